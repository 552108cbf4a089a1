package io.idempotency.samples.shop.recipes;

/**
 * A cart before its order. The version grows with every change of the status.
 */
record Cart(long id, Status status, int version) {

	boolean isOrdered() {
		return this.status == Status.ORDERED;
	}

	enum Status {

		OPEN, ORDERED

	}

}
