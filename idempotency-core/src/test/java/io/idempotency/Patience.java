package io.idempotency;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * How long a test waits for what must come: only how long a test that fails may take, on
 * however slow a machine. Found by JUnit itself, so that no test can leave it out.
 */
public final class Patience implements BeforeAllCallback {

	@Override
	public void beforeAll(ExtensionContext context) {
		Awaitility.setDefaultTimeout(Duration.ofMinutes(2));
	}

}
