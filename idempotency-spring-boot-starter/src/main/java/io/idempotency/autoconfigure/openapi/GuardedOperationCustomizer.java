package io.idempotency.autoconfigure.openapi;

import java.util.Set;

import io.idempotency.aop.IdempotentOperation;
import io.idempotency.aop.IdempotentOperationSource;
import io.swagger.v3.oas.models.Operation;
import org.springdoc.core.customizers.GlobalOperationCustomizer;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;

/** Completes the documentation of guarded handlers, in the document and in its groups. */
final class GuardedOperationCustomizer implements GlobalOperationCustomizer {

	private static final Set<RequestMethod> SAFE = Set.of(RequestMethod.GET, RequestMethod.HEAD, RequestMethod.OPTIONS,
			RequestMethod.TRACE);

	private final ObjectProvider<IdempotentOperationSource> source;

	private final OperationDocument document;

	GuardedOperationCustomizer(ObjectProvider<IdempotentOperationSource> source, OperationDocument document) {
		this.source = source;
		this.document = document;
	}

	@Override
	public Operation customize(Operation operation, HandlerMethod handler) {
		IdempotentOperation guarded = this.source.getObject().operation(handler.getMethod(), handler.getBeanType());
		if (guarded != null && (guarded.guarded().declaredOnMethod() || !isSafe(handler))) {
			this.document.complete(operation, guarded);
		}
		return operation;
	}

	/** The annotation of a class does not cover handlers of safe methods. */
	private static boolean isSafe(HandlerMethod handler) {
		RequestMapping mapping = AnnotatedElementUtils.findMergedAnnotation(handler.getMethod(), RequestMapping.class);
		return mapping != null && mapping.method().length > 0 && SAFE.containsAll(Set.of(mapping.method()));
	}

}
