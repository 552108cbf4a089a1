package io.idempotency.ai;

import java.util.List;

import io.idempotency.IdempotencyException;
import io.idempotency.ScopeMode;
import io.idempotency.ai.ToolAdapter.ToolSettings;
import io.idempotency.ai.ToolCall.ToolCallKey;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.codec.ResultCodec;
import io.idempotency.interceptor.GuardedMethod.GuardMisconfiguredException;
import io.idempotency.interceptor.MethodAdapter;
import io.idempotency.interceptor.OperationKeyReader;
import io.idempotency.interceptor.RequestValues.CurrentRequest;
import io.modelcontextprotocol.server.McpServerFeatures;
import io.modelcontextprotocol.server.McpStatelessServerFeatures;

import org.springframework.ai.tool.execution.DefaultToolExecutionExceptionProcessor;
import org.springframework.ai.tool.execution.ToolExecutionExceptionProcessor;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
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
@EnableConfigurationProperties(IdempotencyAiAutoConfiguration.AiProperties.class)
public final class IdempotencyAiAutoConfiguration {

	IdempotencyAiAutoConfiguration() {
	}

	/** Declares the beans for tools of a Model Context Protocol server. */
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

	/** Declares the beans for tools of a model in this application. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = "org.springframework.ai.tool.execution.ToolExecutionExceptionProcessor")
	static class ModelConfiguration {

		@Bean
		static ToolErrorPostProcessor idempotencyToolErrorPostProcessor() {
			return new ToolErrorPostProcessor();
		}

	}

	/**
	 * A bean post-processor that reports rejections and unguarded calls to the model of
	 * the same application, which calls tools without a server in between. A processor of
	 * the application is not changed, and exceptions of the default processor are still
	 * thrown. Stateless.
	 */
	static final class ToolErrorPostProcessor implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (!(bean instanceof DefaultToolExecutionExceptionProcessor processor)) {
				return bean;
			}
			return (ToolExecutionExceptionProcessor) (exception) -> {
				String message = processor.process(exception);
				return (exception.getCause() instanceof RuntimeException cause
						&& (cause instanceof IdempotencyException || GuardMisconfiguredException.explains(cause)))
								? ToolRejection.of(cause, false).text() : message;
			};
		}

	}

	/**
	 * A bean post-processor that lets the guard see the request of a tool call. The
	 * specifications of tools are beans, or lists that are beans, whichever annotation
	 * they are made from. Stateless.
	 */
	static final class ToolCallPostProcessor implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			if (bean instanceof List<?> beans && beans.stream().anyMatch(ToolCallPostProcessor::isTool)) {
				return beans.stream().map(ToolCallPostProcessor::seen).toList();
			}
			return seen(bean);
		}

		private static boolean isTool(Object bean) {
			return bean instanceof McpServerFeatures.SyncToolSpecification
					|| bean instanceof McpStatelessServerFeatures.SyncToolSpecification;
		}

		private static Object seen(Object bean) {
			if (bean instanceof McpServerFeatures.SyncToolSpecification tool) {
				return McpServerFeatures.SyncToolSpecification.builder()
					.tool(tool.tool())
					.callHandler((exchange, request) -> new ToolCall(request, exchange.sessionId())
						.run(() -> tool.callHandler().apply(exchange, request)))
					.build();
			}
			if (bean instanceof McpStatelessServerFeatures.SyncToolSpecification tool) {
				return McpStatelessServerFeatures.SyncToolSpecification.builder()
					.tool(tool.tool())
					.callHandler((context, request) -> new ToolCall(request, null)
						.run(() -> tool.callHandler().apply(context, request)))
					.build();
			}
			return bean;
		}

	}

	/**
	 * Properties of guarded AI tools.
	 *
	 * @param metaKey Name of the property in the _meta object of a tool call that holds
	 * the idempotency key.
	 */
	@ConfigurationProperties("idempotency.ai")
	record AiProperties(@DefaultValue("io.modelcontextprotocol/idempotencyKey") String metaKey) {

		/** Checks the values. */
		AiProperties {
			if (metaKey.isBlank()) {
				throw new InvalidConfigurationPropertyValueException("idempotency.ai.meta-key", metaKey,
						"It must be the name of a _meta property.");
			}
		}

	}

}
