package io.idempotency.it.servers;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.testcontainers.DockerClientFactory;

/**
 * Tests with a server that no Maven artifact carries. They run where Docker is and say so
 * where it is not; whatever else they need fails them.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RequiresDocker.Condition.class)
public @interface RequiresDocker {

	/** Asks for Docker. */
	final class Condition implements ExecutionCondition {

		@Override
		public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
			if (DockerClientFactory.instance().isDockerAvailable()) {
				return ConditionEvaluationResult.enabled("Docker is here");
			}
			return ConditionEvaluationResult.disabled("LEFT OUT: no Docker here");
		}

	}

}
