package io.idempotency.it.servers;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Runs each night with {@code -Didempotency.tests.variants=all}, and not in every build:
 * a test that repeats another one on a different store, server or container, or that
 * takes long and covers a rare set-up.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(Nightly.Condition.class)
public @interface Nightly {

	/** Reads the property. */
	final class Condition implements ExecutionCondition {

		/** Returns whether nightly tests run. */
		public static boolean isWanted() {
			return "all".equals(System.getProperty("idempotency.tests.variants"));
		}

		@Override
		public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
			return isWanted() ? ConditionEvaluationResult.enabled("all variants run") : ConditionEvaluationResult
				.disabled("LEFT OUT: -Didempotency.tests.variants=all runs it, each night");
		}

	}

}
