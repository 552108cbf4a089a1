package io.idempotency.ai;

import io.idempotency.IdempotencyException;
import io.idempotency.interceptor.GuardFaultException;

import org.springframework.ai.tool.execution.DefaultToolExecutionExceptionProcessor;
import org.springframework.ai.tool.execution.ToolExecutionExceptionProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * A bean post-processor that tells refusals, and that a call could not be guarded, to the
 * model of the same application, which calls tools without a server between. A processor
 * that the application has written itself stays as it is, and what the default one throws
 * is thrown. Stateless.
 */
final class ToolErrorPostProcessor implements BeanPostProcessor {

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		if (!(bean instanceof DefaultToolExecutionExceptionProcessor processor)) {
			return bean;
		}
		return (ToolExecutionExceptionProcessor) (exception) -> {
			String message = processor.process(exception);
			return (exception.getCause() instanceof RuntimeException cause
					&& (cause instanceof IdempotencyException || GuardFaultException.explains(cause)))
							? ToolRefusal.of(cause, false).text() : message;
		};
	}

}
