package io.idempotency.ai;

import java.util.List;

import io.modelcontextprotocol.server.McpServerFeatures;
import io.modelcontextprotocol.server.McpStatelessServerFeatures;

import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * A bean post-processor that lets the guard see the request of a tool call. The
 * specifications of tools are beans, or lists that are beans, whichever annotation they
 * are made from. Stateless.
 */
final class ToolCallPostProcessor implements BeanPostProcessor {

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
