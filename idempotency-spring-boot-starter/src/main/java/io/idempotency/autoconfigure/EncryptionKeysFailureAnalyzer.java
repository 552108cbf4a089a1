package io.idempotency.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.Order;

/**
 * Says what is wrong with keys that cannot be bound. This analyzer comes first, because
 * the general analyzers print the value.
 */
@Order(0)
final class EncryptionKeysFailureAnalyzer extends AbstractFailureAnalyzer<BindException> {

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BindException cause) {
		String name = cause.getName().toString();
		if (!name.startsWith(EncryptionKeys.PROPERTY)) {
			return null;
		}
		String origin = (cause.getProperty() != null && cause.getProperty().getOrigin() != null)
				? " (" + cause.getProperty().getOrigin() + ")" : "";
		return new FailureAnalysis(
				"Property " + name + origin + " is invalid. " + EncryptionKeys.PROPERTY
						+ " has ids of keys below it, each with the base64 of its key.",
				"Write " + EncryptionKeys.PROPERTY + ".<id>=<base64 of the key>.", cause);
	}

}
