package io.idempotency.web;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.http.HandlerRules;
import io.idempotency.http.RouteRegistry;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletMapping;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.context.ApplicationContext;
import org.springframework.http.server.PathContainer;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.FrameworkServlet;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.function.support.RouterFunctionMapping;
import org.springframework.web.servlet.handler.AbstractUrlHandlerMapping;
import org.springframework.web.servlet.mvc.condition.PathPatternsRequestCondition;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;
import org.springframework.web.util.pattern.PathPattern;

/**
 * Determines which requests may reach a guarded handler, by the mappings of the servlet
 * that will serve them. The filter does not process other requests.
 * <p>
 * If the handler is unknown, the request matches. If a request that did not match reaches
 * a guarded handler, the call fails before that handler runs, and all later requests
 * match. Thread-safe.
 */
final class GuardedRequestMatcher {

	private static final Logger logger = LoggerFactory.getLogger(GuardedRequestMatcher.class);

	private static final String PASSED = GuardedRequestMatcher.class.getName() + ".passed";

	private final Supplier<IdempotentOperationSource> operations;

	/** The guarded handlers of each servlet, by the name of the servlet. */
	private final Map<String, ServletHandlers> servlets = new ConcurrentHashMap<>();

	private volatile boolean disproved;

	/**
	 * Creates the matcher.
	 * @param operations provides the operations
	 * @param disproved whether all requests match
	 */
	GuardedRequestMatcher(Supplier<IdempotentOperationSource> operations, boolean disproved) {
		this.operations = operations;
		this.disproved = disproved;
	}

	/**
	 * Returns whether the dispatch of a request may reach a guarded handler. If not, the
	 * request is marked for later dispatches.
	 */
	boolean mayMeet(HttpServletRequest request) {
		if (this.disproved || this.operations.get().readsBodies() || mayReach(request)) {
			return true;
		}
		request.setAttribute(PASSED, this);
		return false;
	}

	/** Returns whether a dispatch of the request did not match. */
	static boolean hasPassed(ServletRequest request) {
		return request.getAttribute(PASSED) != null;
	}

	/**
	 * Handles a guarded call in a request. If the request did not match, all requests
	 * match from now on.
	 * @return whether the request did not match
	 */
	static boolean disprove(ServletRequest request) {
		if (request.getAttribute(PASSED) instanceof GuardedRequestMatcher handlers) {
			handlers.disproved = true;
			return true;
		}
		return false;
	}

	private boolean mayReach(HttpServletRequest request) {
		HttpServletMapping mapping = request.getHttpServletMapping();
		String servlet = (mapping != null) ? mapping.getServletName() : null;
		ServletHandlers handlers = (servlet != null) ? handlers(servlet, request.getServletContext()) : null;
		return handlers == null || handlers.mayTake(request);
	}

	private @Nullable ServletHandlers handlers(String servlet, ServletContext servletContext) {
		ServletHandlers known = this.servlets.get(servlet);
		if (known != null && known.servletContext() == servletContext) {
			return known;
		}
		Object context = servletContext.getAttribute(FrameworkServlet.SERVLET_CONTEXT_PREFIX + servlet);
		if (!(context instanceof ApplicationContext beans)) {
			return null;
		}
		ServletHandlers found = new ServletHandlers(servletContext, guarded(beans));
		this.servlets.put(servlet, found);
		return found;
	}

	/**
	 * Finds the guarded handlers of a servlet. It is not visible which functional routes
	 * are guarded, so every path counts if one of them is.
	 * @return the handlers, {@code null} if a mapping does not list its handlers
	 */
	private @Nullable List<GuardedHandler> guarded(ApplicationContext context) {
		// The servlet also searches ancestor contexts. Without a bean it has default
		// mappings, which are not beans.
		Collection<HandlerMapping> mappings = BeanFactoryUtils
			.beansOfTypeIncludingAncestors(context, HandlerMapping.class, true, false)
			.values();
		List<GuardedHandler> guarded = new ArrayList<>();
		for (HandlerMapping mapping : mappings) {
			if (mapping instanceof RequestMappingInfoHandlerMapping handlers) {
				handlers.getHandlerMethods().forEach((info, handler) -> add(guarded, info, handler));
			}
			else if (!(mapping instanceof RouterFunctionMapping || mapping instanceof AbstractUrlHandlerMapping)) {
				return null;
			}
		}
		if (context.getBeanProvider(RouteRegistry.class)
			.stream()
			.anyMatch((routes) -> !routes.operations().isEmpty())) {
			guarded.add(new GuardedHandler(Set.of(), null, false));
		}
		return mappings.isEmpty() ? null : guarded;
	}

	private void add(List<GuardedHandler> guarded, RequestMappingInfo info, HandlerMethod handler) {
		boolean evenIfSafe = true;
		try {
			IdempotentOperation operation = this.operations.get().operation(handler.getMethod(), handler.getBeanType());
			if (operation == null) {
				return;
			}
			evenIfSafe = operation.guarded().declaredOnMethod();
		}
		catch (RuntimeException ex) {
			logger.debug("The annotation of {} cannot be read, so the handler is treated as guarded", handler, ex);
		}
		Set<String> methods = info.getMethodsCondition()
			.getMethods()
			.stream()
			.map(RequestMethod::name)
			.collect(Collectors.toUnmodifiableSet());
		PathPatternsRequestCondition paths = info.getPathPatternsCondition();
		guarded.add(new GuardedHandler(methods, (paths != null) ? paths.getPatterns() : null, evenIfSafe));
	}

	/**
	 * A guarded handler.
	 *
	 * @param methods its HTTP methods, empty for all
	 * @param paths its paths, {@code null} if every path counts
	 * @param evenIfSafe whether safe HTTP methods are guarded
	 */
	private record GuardedHandler(Set<String> methods, @Nullable Set<PathPattern> paths, boolean evenIfSafe) {

		boolean mayTake(String method) {
			if (method.equals("POST")) {
				// A later filter may change it to any other method, as requested by a
				// form.
				return true;
			}
			return (this.evenIfSafe || !HandlerRules.isSafe(method)) && (this.methods.isEmpty()
					|| this.methods.contains(method) || method.equals("HEAD") && this.methods.contains("GET"));
		}

		boolean matches(PathContainer path) {
			if (this.paths == null) {
				return true;
			}
			for (PathPattern pattern : this.paths) {
				if (pattern.matches(path)) {
					return true;
				}
			}
			return false;
		}

	}

	/**
	 * The guarded handlers of one servlet.
	 *
	 * @param servletContext the application of the servlet
	 * @param guarded the handlers, {@code null} if they are unknown
	 */
	private record ServletHandlers(ServletContext servletContext, @Nullable List<GuardedHandler> guarded) {

		boolean mayTake(HttpServletRequest request) {
			if (this.guarded == null) {
				return true;
			}
			String method = request.getMethod();
			PathContainer path = null;
			PathContainer shorter = null;
			for (GuardedHandler handler : this.guarded) {
				if (!handler.mayTake(method)) {
					continue;
				}
				if (path == null) {
					path = ServletRequestPathUtils.parse(request).pathWithinApplication();
					shorter = withoutSlash(path);
				}
				if (handler.matches(path) || shorter != null && handler.matches(shorter)) {
					return true;
				}
			}
			return false;
		}

		/** Spring's UrlHandlerFilter removes a trailing slash after this filter. */
		private static @Nullable PathContainer withoutSlash(PathContainer path) {
			List<PathContainer.Element> elements = path.elements();
			int last = elements.size() - 1;
			return (last > 0 && elements.get(last) instanceof PathContainer.Separator) ? path.subPath(0, last) : null;
		}

	}

}
