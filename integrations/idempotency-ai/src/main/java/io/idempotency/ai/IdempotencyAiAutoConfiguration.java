package io.idempotency.ai;

import io.idempotency.ScopeMode;
import io.idempotency.interceptor.MethodAdapter;
import io.idempotency.interceptor.OperationKeyReader;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.interceptor.CurrentRequest;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.codec.ResultCodec;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for AI tools: the key of a tool call
 * is in its request, and a rejection is an error that a model can read. Backs off without
 * Spring AI.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnBean(MethodAdapter.class)
@EnableConfigurationProperties(AiProperties.class)
public final class IdempotencyAiAutoConfiguration {

	IdempotencyAiAutoConfiguration() {
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

		@Bean(ToolCallKey.BEAN)
		ToolCallKey idempotencyToolCall(ResultCodec codec) {
			return new ToolCallKey(codec);
		}

		@Bean
		@ConditionalOnMissingBean
		ToolAdapter idempotencyToolAdapter(MethodAdapter methods, OperationKeyReader keys, ResultCodec codec,
				IdempotencyProperties properties, AiProperties ai, ObjectProvider<CurrentRequest> request,
				ListableBeanFactory beans, Environment environment) {
			CurrentRequest current = request.getIfAvailable(() -> CurrentRequest.NONE);
			ToolSettings settings = new ToolSettings(ai.metaKey(), ToolSettings.hasServer(beans),
					properties.scope() == ScopeMode.GLOBAL,
					"ASYNC".equalsIgnoreCase(environment.getProperty("spring.ai.mcp.server.type")),
					"STATELESS".equalsIgnoreCase(environment.getProperty("spring.ai.mcp.server.protocol")));
			return new ToolAdapter(methods, keys, settings, codec, current::values, current::owner);
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
