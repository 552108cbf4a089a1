package io.idempotency.samples.shop;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.idempotency.IdempotencyException;

import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.web.util.HtmlUtils;

/**
 * The pages of the checkout, in plain HTML: no script and no template engine.
 */
final class CheckoutPages {

	/** Rejections after which the order may have been placed. */
	private static final Set<String> MAYBE_ORDERED = Set.of("in-progress", "outcome-unknown", "result-unavailable",
			"key-reused");

	private static final String FRAME = """
			<!doctype html>
			<html lang="en">
			<head>
			<meta charset="utf-8">
			<meta name="viewport" content="width=device-width, initial-scale=1">
			<title>%1$s</title>
			<link rel="icon" href="/favicon.svg">
			<link rel="stylesheet" href="/app.css">
			</head>
			<body class="paper">
			<header class="top">
			<img src="/favicon.svg" alt="" width="44" height="44">
			<div>
			<h1>%1$s</h1>
			<p>No script here: post, redirect, get.</p>
			</div>
			<a href="/">Back to the shop</a>
			</header>
			<main>
			%2$s
			</main>
			</body>
			</html>
			""";

	private CheckoutPages() {
	}

	static String form(List<Product> products, String sku, String token, CsrfToken csrf) {
		String options = products.stream()
			.map((product) -> "<option value=\"%s\"%s>%s, %s</option>".formatted(escape(product.sku()),
					product.sku().equals(sku) ? " selected" : "", escape(product.name()), product.price()))
			.collect(Collectors.joining("\n"));
		return FRAME.formatted("Checkout",
				"""
						<form method="post" action="/checkout">
						<input type="hidden" name="token" value="%s">
						<input type="hidden" name="%s" value="%s">
						<p><label>Product <select name="sku">
						%s
						</select></label></p>
						<p><label>Quantity <input name="quantity" type="number" min="1" max="100" value="1" required></label></p>
						<p><button class="primary" type="submit">Order now</button></p>
						</form>"""
					.formatted(escape(token), escape(csrf.getParameterName()), escape(csrf.getToken()), options));
	}

	static String confirmation(Order order) {
		return FRAME.formatted("Thank you", """
				<p>Your order <strong id="order-no">%s</strong>: %d × %s, %s in total.</p>
				<p><a href="/checkout">Order something else</a></p>""".formatted(escape(order.orderNo()),
				order.quantity(), escape(order.sku()), order.amount()));
	}

	static String rejection(IdempotencyException rejection) {
		boolean earlier = MAYBE_ORDERED.contains(rejection.code());
		String effect = earlier ? "An earlier click may have placed an order. Check your orders before you order again."
				: "Nothing was ordered.";
		return FRAME.formatted("This form cannot be submitted", """
				<p id="code" data-code="%s">%s. %s</p>
				<p><a href="/checkout">Open a new form</a></p>""".formatted(escape(rejection.code()),
				escape(rejection.title()), effect));
	}

	private static String escape(String text) {
		return HtmlUtils.htmlEscape(text);
	}

}
