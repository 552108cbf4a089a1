package io.idempotency.autoconfigure;

import io.idempotency.IdempotencyConfigurationException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Turns a wrong annotation or wiring into what is wrong and what to do, without a stack
 * trace.
 */
final class IdempotencyConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<IdempotencyConfigurationException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, IdempotencyConfigurationException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.action(), cause);
	}

}
