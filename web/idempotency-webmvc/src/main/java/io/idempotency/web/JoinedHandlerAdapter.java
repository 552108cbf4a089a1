package io.idempotency.web;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.util.ConcurrentReferenceHashMap;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.ServletWebRequest;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.method.support.HandlerMethodReturnValueHandlerComposite;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.servlet.HandlerAdapter;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.View;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.servlet.mvc.method.annotation.ServletInvocableHandlerMethod;
import org.springframework.web.servlet.support.RequestContextUtils;

/**
 * Wraps the adapter of handlers whose record joins their transaction, so that the
 * response commits with the work. The transaction of the guard ends after the response is
 * rendered, before interceptors are called and output is sent. An exception of the commit
 * is handled like one of the handler. Thread-safe.
 */
final class JoinedHandlerAdapter implements HandlerAdapter, Ordered {

	private static final Logger logger = LoggerFactory.getLogger(JoinedHandlerAdapter.class);

	private final Supplier<IdempotentOperationSource> operations;

	/** The logged handlers whose responses another wrapper buffered. */
	private final Set<Method> told = ConcurrentHashMap.newKeySet();

	private final Map<ApplicationContext, List<HandlerAdapter>> adapters = new ConcurrentReferenceHashMap<>();

	/**
	 * Creates the adapter.
	 * @param operations provides the operations of handlers
	 */
	JoinedHandlerAdapter(Supplier<IdempotentOperationSource> operations) {
		this.operations = operations;
	}

	@Override
	public boolean supports(Object handler) {
		if (!(handler instanceof HandlerMethod method)) {
			return false;
		}
		IdempotentOperation operation = this.operations.get().operation(method.getMethod(), method.getBeanType());
		return operation != null && operation.place().transactions() != null && operation.options().replays();
	}

	@Override
	public @Nullable ModelAndView handle(HttpServletRequest request, HttpServletResponse response, Object handler)
			throws Exception {
		HandlerAdapter adapter = adapter(request, handler);
		Exchange exchange = Exchange.find(request);
		if (exchange == null || !(adapter instanceof RequestMappingHandlerAdapter mvc)) {
			return adapter.handle(request, response, handler);
		}
		if (response != exchange.response() && this.told.add(((HandlerMethod) handler).getMethod())) {
			logger.info("Responses of '{}' are stored after the commit instead of with it, because {} wraps the "
					+ "response after the IdempotencyFilter. Give its filter an order below "
					+ "idempotency.http.filter-order", handler, response.getClass().getName());
		}
		return exchange.inside(response, () -> adapter.handle(request, response, handler),
				(result) -> render(result, (HandlerMethod) handler, mvc, new ServletWebRequest(request, response)));
	}

	/** Renders a result as if the handler had returned it. */
	private static @Nullable ModelAndView render(@Nullable Object result, HandlerMethod handler,
			RequestMappingHandlerAdapter adapter, ServletWebRequest request) throws Exception {
		ServletInvocableHandlerMethod returning = new ServletInvocableHandlerMethod(handler) {

			@Override
			public @Nullable Object invokeForRequest(NativeWebRequest ignored, @Nullable ModelAndViewContainer model,
					@Nullable Object... arguments) {
				return result;
			}

		};
		returning.setHandlerMethodReturnValueHandlers(
				new HandlerMethodReturnValueHandlerComposite().addHandlers(adapter.getReturnValueHandlers()));
		ModelAndViewContainer container = new ModelAndViewContainer();
		returning.invokeAndHandle(request, container);
		if (container.isRequestHandled()) {
			return null;
		}
		ModelAndView answer = new ModelAndView();
		answer.addAllObjects(container.getModel());
		answer.setStatus(container.getStatus());
		if (container.getView() instanceof View view) {
			answer.setView(view);
		}
		else {
			answer.setViewName(container.getViewName());
		}
		return answer;
	}

	/** Returns the adapter that the dispatcher would use. */
	private HandlerAdapter adapter(HttpServletRequest request, Object handler) throws ServletException {
		ApplicationContext context = RequestContextUtils.findWebApplicationContext(request);
		List<HandlerAdapter> candidates = (context != null)
				? this.adapters.computeIfAbsent(context, JoinedHandlerAdapter::others) : List.of();
		for (HandlerAdapter candidate : candidates) {
			if (candidate.supports(handler)) {
				return candidate;
			}
		}
		throw new ServletException("No HandlerAdapter supports handler [" + handler + "]");
	}

	static List<HandlerAdapter> others(ApplicationContext context) {
		return BeanFactoryUtils.beansOfTypeIncludingAncestors(context, HandlerAdapter.class, true, false)
			.values()
			.stream()
			.filter((adapter) -> !(adapter instanceof JoinedHandlerAdapter))
			.sorted(AnnotationAwareOrderComparator.INSTANCE)
			.toList();
	}

	@Override
	@SuppressWarnings("deprecation")
	public long getLastModified(HttpServletRequest request, Object handler) {
		return -1;
	}

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

}
