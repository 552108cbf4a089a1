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
		return new ShopException(404, "unknown-order", "Order is unknown", "Order " + id + " does not exist.");
	}

	public static ShopException unknownProduct(String sku) {
		return new ShopException(422, "unknown-product", "Product is unknown", "The shop does not sell '" + sku + "'.");
	}

	public static ShopException outOfStock(Product product, int quantity) {
		return new ShopException(409, "out-of-stock", "Product is out of stock",
				"Fewer than " + quantity + " pieces of '" + product.sku() + "' are in stock.");
	}

	static ShopException amountTooHigh(BigDecimal most) {
		return new ShopException(422, "amount-too-high", "Amount is too high", "The maximum amount is " + most + ".");
	}

	static ShopException unknownOrder(String orderNo) {
		return new ShopException(404, "unknown-order", "Order is unknown", "Order " + orderNo + " does not exist.");
	}

	public static ShopException unknownRequest(String requestId) {
		return new ShopException(404, "unknown-request", "Request is unknown", "No order exists for requestId '"
				+ requestId + "'. If the call may still arrive, look it up again. Otherwise send it again.");
	}

	public static ShopException unknownScheme(String scheme) {
		return new ShopException(404, "unknown-scheme", "Scheme is unknown",
				"Scheme '" + scheme + "' does not exist. GET /api/recipes lists the schemes.");
	}

	public static ShopException requestReused() {
		return new ShopException(422, "request-reused", "requestId is already used",
				"This requestId was already used for a different order. Use a new requestId for a new order.");
	}

	public static ShopException unknownOrderNumber() {
		return new ShopException(422, "unknown-order-number", "Order number is unknown",
				"The order number was not issued to you or has expired. Request a new one.");
	}

	public static ShopException stillRunning() {
		ShopException exception = new ShopException(409, "in-progress", "A request with this requestId is in progress",
				"Wait, then send the same request again to receive its order.");
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
