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
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Tests that need a {@link Backend}, which says what becomes of them where it is not
 * here.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(Requires.Condition.class)
public @interface Requires {

	/** All that they need. */
	Backend[] value();

	/** Asks each of them. */
	final class Condition implements ExecutionCondition {

		@Override
		public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
			ConditionEvaluationResult result = ConditionEvaluationResult.enabled("nothing is required");
			for (Backend backend : AnnotationSupport.findAnnotation(context.getElement(), Requires.class)
				.map(Requires::value)
				.orElseGet(() -> new Backend[0])) {
				result = backend.evaluate();
				if (result.isDisabled()) {
					return result;
				}
			}
			return result;
		}

	}

}
