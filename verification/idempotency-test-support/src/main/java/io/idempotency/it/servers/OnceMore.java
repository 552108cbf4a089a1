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
 * Shows on another store, server or container what a test that always runs shows on one.
 * It runs with {@code -Didempotency.tests.variants=all}, as each night.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(OnceMore.Condition.class)
public @interface OnceMore {

	/** Asks for the property. */
	final class Condition implements ExecutionCondition {

		/** Whether all is to be shown once more. */
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
