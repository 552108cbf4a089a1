package io.idempotency.autoconfigure.ai;

import io.idempotency.ScopeMode;
import io.idempotency.ai.ToolCallPostProcessor;
import io.idempotency.ai.ToolDoor;
import io.idempotency.ai.ToolErrorPostProcessor;
import io.idempotency.ai.ToolSettings;
import io.idempotency.aop.MethodDoor;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.autoconfigure.engine.CurrentRequest;
import io.idempotency.autoconfigure.engine.IdempotencyAutoConfiguration;
import io.idempotency.protocol.ResultCodec;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the tools of agents: the key of
 * a tool call is in its request, and a refusal is an error that a model can read. Backs
 * off without Spring AI.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
public final class IdempotencyToolsAutoConfiguration {

	IdempotencyToolsAutoConfiguration() {
	}

	/** Declares what the tools of a server of the Model Context Protocol need. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = { "io.modelcontextprotocol.server.McpServerFeatures$SyncToolSpecification",
			"io.modelcontextprotocol.server.McpStatelessServerFeatures$SyncToolSpecification" })
	static class ServerConfiguration {

		@Bean
		static ToolCallPostProcessor idempotencyToolCallPostProcessor() {
			return new ToolCallPostProcessor();
		}

		@Bean
		@ConditionalOnMissingBean
		ToolDoor idempotencyToolDoor(MethodDoor methods, ResultCodec codec, IdempotencyProperties properties,
				ObjectProvider<CurrentRequest> request, ListableBeanFactory beans, Environment environment) {
			CurrentRequest current = request.getIfAvailable(() -> CurrentRequest.NONE);
			return new ToolDoor(methods, settings(properties, beans, environment), codec, current::values,
					current::owner);
		}

		private static ToolSettings settings(IdempotencyProperties properties, ListableBeanFactory beans,
				Environment environment) {
			return new ToolSettings(properties.key().metaMember(), ToolSettings.hasServer(beans),
					properties.scope() == ScopeMode.GLOBAL,
					"ASYNC".equalsIgnoreCase(environment.getProperty("spring.ai.mcp.server.type")),
					"STATELESS".equalsIgnoreCase(environment.getProperty("spring.ai.mcp.server.protocol")));
		}

	}

	/** Declares what the tools of a model in this application need. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = "org.springframework.ai.tool.execution.ToolExecutionExceptionProcessor")
	static class ModelConfiguration {

		@Bean
		static ToolErrorPostProcessor idempotencyToolErrorPostProcessor() {
			return new ToolErrorPostProcessor();
		}

	}

}
