package io.idempotency.it.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Requires;

import org.springframework.core.io.ClassPathResource;

/**
 * The official client of Stripe for Node, in a process for each call.
 */
@Requires(Backend.STRIPE_NODE)
class StripeNodeClientTests extends StripeClientTests {

	@Override
	String refund(String url, String key) {
		return call("refund", url, key);
	}

	@Override
	String cancel(String url, String key) {
		return call("cancel", url, key);
	}

	private static String call(String what, String url, String key) {
		try {
			ProcessBuilder node = new ProcessBuilder("node",
					new ClassPathResource("stripe-client.js").getFile().getPath(), what, url, key)
				.redirectErrorStream(true);
			node.environment().put("NODE_PATH", Objects.requireNonNull(Backend.stripeNode()));
			return new String(node.start().getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
