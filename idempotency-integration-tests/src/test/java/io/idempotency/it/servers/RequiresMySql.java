package io.idempotency.it.servers;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.testcontainers.DockerClientFactory;

/**
 * Tests against a real MySQL. They run with {@code -Pmysql}, which fetches one of half a
 * gigabyte, or where Docker is, and say so where neither is; a server that does not come
 * up fails them.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("mysql")
@ExtendWith(RequiresMySql.Condition.class)
public @interface RequiresMySql {

	/** Asks for either. */
	final class Condition implements ExecutionCondition {

		@Override
		public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
			if (MySqlServer.isHere() || DockerClientFactory.instance().isDockerAvailable()) {
				return ConditionEvaluationResult.enabled("there is a MySQL");
			}
			return ConditionEvaluationResult.disabled("LEFT OUT: neither -Pmysql nor Docker here");
		}

	}

}
