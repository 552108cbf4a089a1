package io.idempotency.samples.shop.numbers;

/**
 * Makes order numbers. Each is given out once, by all processes of the shop together;
 * later ones are mostly greater. They can be guessed, so they are names and not secrets:
 * never a token.
 */
@FunctionalInterface
public interface OrderNumbers {

	/**
	 * Creates a number. Call it before the transaction that uses it: it may need a
	 * separate database connection.
	 * @return 13 digits and capital letters
	 */
	String next();

}
