package io.idempotency.test;

import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import org.springframework.test.context.junit.jupiter.SpringExtension;

/** Empties the store of the test's application. */
final class ForgetKeysExtension implements BeforeEachCallback {

	@Override
	public void beforeEach(ExtensionContext context) {
		SpringExtension.getApplicationContext(context).getBean(ForgetfulIdempotencyStore.class).forget();
	}

}
