package io.idempotency.autoconfigure;

import io.idempotency.IdempotencyConfigurationException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Reports a wrong annotation or wiring as a problem and an action, without a stack trace.
 */
final class IdempotencyConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<IdempotencyConfigurationException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, IdempotencyConfigurationException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.action(), cause);
	}

}
