package io.idempotency.samples.shop;

import java.net.URI;
import java.security.Principal;
import java.time.Duration;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyTokens;
import io.idempotency.Idempotent;
import jakarta.validation.Valid;
import org.jspecify.annotations.Nullable;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.http.CacheControl;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Post/redirect/get without a script. The form carries a token of the shop. The post
 * returns 303, so refreshing the browser reloads the confirmation and does not post
 * again. Nothing is cached, so going back requests a new form with a new token. If the
 * old form is sent again (two clicks, two tabs), the response is the same redirect.
 */
@RestController
@RequestMapping("/checkout")
class CheckoutController {

	private final Products products;

	private final Orders orders;

	private final IdempotencyTokens tokens;

	private final DemoDelay delay;

	CheckoutController(Products products, Orders orders, IdempotencyTokens tokens, DemoDelay delay) {
		this.products = products;
		this.orders = orders;
		this.tokens = tokens;
		this.delay = delay;
	}

	@GetMapping
	ResponseEntity<String> form(@RequestParam(defaultValue = "sku-1") String sku, CsrfToken csrf) {
		return page(HttpStatus.OK, CheckoutPages.form(this.products.all(), sku, this.tokens.issue().token(), csrf));
	}

	/**
	 * A second click while the first post is in progress waits for it: the browser has
	 * discarded the first post and shows the response to the second. The fingerprint
	 * covers the order instead of the whole form, whose CSRF token differs each time the
	 * form is shown.
	 */
	@Idempotent(body = "token", token = true, fingerprint = "{#form.sku, #form.quantity}", conflict = ConflictMode.WAIT,
			waitTimeout = "15s")
	@PostMapping(consumes = MediaType.APPLICATION_FORM_URLENCODED_VALUE)
	public ResponseEntity<Void> submit(@Valid @ModelAttribute CheckoutForm form, @Nullable Principal customer,
			@RequestHeader(name = DemoDelay.HEADER,
					defaultValue = "0s") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration demoDelay) {
		this.delay.pause(demoDelay);
		String name = (customer != null) ? customer.getName() : "anonymous";
		Order order = this.orders.place(name, form.sku(), form.quantity());
		return ResponseEntity.status(HttpStatus.SEE_OTHER)
			.location(URI.create("/checkout/" + order.orderNo()))
			.cacheControl(CacheControl.noStore())
			.build();
	}

	@GetMapping("/{orderNo}")
	ResponseEntity<String> confirmation(@PathVariable String orderNo) {
		return page(HttpStatus.OK, CheckoutPages.confirmation(this.orders.get(orderNo)));
	}

	/** A person sits in front of this form, so no problem details. */
	@ExceptionHandler
	ResponseEntity<String> rejected(IdempotencyException ex) {
		return page(HttpStatus.valueOf(ex.status()), CheckoutPages.rejection(ex));
	}

	private static ResponseEntity<String> page(HttpStatus status, String html) {
		return ResponseEntity.status(status)
			.contentType(MediaType.parseMediaType("text/html;charset=UTF-8"))
			.cacheControl(CacheControl.noStore())
			.body(html);
	}

}
