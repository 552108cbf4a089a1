package io.idempotency.samples.reactive;

import java.math.BigDecimal;
import java.net.URI;

import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/**
 * A call that the shop understood and cannot do.
 */
final class ShopException extends ErrorResponseException {

	private static final long serialVersionUID = 1L;

	private ShopException(int status, String code, String title, String detail) {
		super(HttpStatusCode.valueOf(status), ProblemDetail.forStatusAndDetail(HttpStatusCode.valueOf(status), detail),
				null);
		setType(URI.create("urn:shop:" + code));
		setTitle(title);
		getBody().setProperty("code", code);
	}

	static ShopException unknownOrder(long id) {
		return new ShopException(404, "unknown-order", "Order is unknown", "Order " + id + " does not exist.");
	}

	static ShopException unknownProduct(String sku) {
		return new ShopException(422, "unknown-product", "Product is unknown", "The shop does not sell '" + sku + "'.");
	}

	static ShopException outOfStock(Product product, int quantity) {
		return new ShopException(409, "out-of-stock", "Product is out of stock",
				"Fewer than " + quantity + " pieces of '" + product.sku() + "' are in stock.");
	}

	static ShopException amountTooHigh(BigDecimal most) {
		return new ShopException(422, "amount-too-high", "Amount is too high", "The maximum amount is " + most + ".");
	}

}
