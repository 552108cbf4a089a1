package io.idempotency.samples.shop;

import java.math.BigDecimal;
import java.net.URI;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/**
 * A call that the shop understood and cannot do.
 */
public final class ShopException extends ErrorResponseException {

	private static final long serialVersionUID = 1L;

	private ShopException(int status, String code, String title, String detail) {
		super(HttpStatusCode.valueOf(status), problem(status, code, title, detail), null);
	}

	static ShopException unknownOrder(long id) {
		return new ShopException(404, "unknown-order", "Order is unknown", "There is no order " + id + ".");
	}

	public static ShopException unknownProduct(String sku) {
		return new ShopException(422, "unknown-product", "Product is unknown", "The shop does not sell '" + sku + "'.");
	}

	public static ShopException outOfStock(Product product, int quantity) {
		return new ShopException(409, "out-of-stock", "Product is out of stock",
				"There are not " + quantity + " pieces of '" + product.sku() + "' left.");
	}

	static ShopException amountTooHigh(BigDecimal most) {
		return new ShopException(422, "amount-too-high", "Amount is too high", "At most " + most + " can be booked.");
	}

	static ShopException unknownOrder(String orderNo) {
		return new ShopException(404, "unknown-order", "Order is unknown", "There is no order " + orderNo + ".");
	}

	public static ShopException unknownRequest(String requestId) {
		return new ShopException(404, "unknown-request", "Request is unknown",
				"No order was placed with requestId '" + requestId
						+ "' so far. If a call with it may still be on its way, ask again; else send it once more.");
	}

	public static ShopException unknownScheme(String scheme) {
		return new ShopException(404, "unknown-scheme", "Scheme is unknown",
				"There is no scheme '" + scheme + "'. GET /api/recipes lists them.");
	}

	public static ShopException requestReused() {
		return new ShopException(422, "request-reused", "requestId is already used",
				"An order of something else was placed with this requestId. Take a new one for a new order.");
	}

	public static ShopException unknownOrderNumber() {
		return new ShopException(422, "unknown-order-number", "Order number is unknown",
				"The order number was not made for you, or is forgotten. Ask for a new one.");
	}

	public static ShopException stillRunning() {
		ShopException exception = new ShopException(409, "in-progress", "A request with this requestId is running",
				"Send the same request again in a moment to get its order.");
		exception.getHeaders().set(HttpHeaders.RETRY_AFTER, "1");
		return exception;
	}

	private static ProblemDetail problem(int status, String code, String title, String detail) {
		ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatusCode.valueOf(status), detail);
		problem.setType(URI.create("urn:shop:" + code));
		problem.setTitle(title);
		problem.setProperty("code", code);
		return problem;
	}

}
