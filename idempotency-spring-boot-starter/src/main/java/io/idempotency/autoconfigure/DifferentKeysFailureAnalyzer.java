package io.idempotency.autoconfigure;

import io.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.annotation.AnnotationConfigurationException;

/**
 * Says what to do if {@code value} and {@code key} of an annotation differ. On the class
 * of a bean, Spring finds this mistake before the library does.
 */
final class DifferentKeysFailureAnalyzer extends AbstractFailureAnalyzer<AnnotationConfigurationException> {

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, AnnotationConfigurationException cause) {
		String message = cause.getMessage();
		if (message == null || !message.contains(Idempotent.class.getName())) {
			return null;
		}
		return new FailureAnalysis(message, "Keep one of value and key: they are two names of one attribute", cause);
	}

}
