package io.idempotency.web;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperationSource;
import io.idempotency.http.HandlerRules;
import io.idempotency.http.RouteRegistry;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletMapping;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.context.ApplicationContext;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.PathContainer;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.FrameworkServlet;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.function.HandlerFunction;
import org.springframework.web.servlet.function.RequestPredicate;
import org.springframework.web.servlet.function.RequestPredicates;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.support.RouterFunctionMapping;
import org.springframework.web.servlet.handler.AbstractUrlHandlerMapping;
import org.springframework.web.servlet.handler.HandlerMethodMappingNamingStrategy;
import org.springframework.web.servlet.mvc.condition.PathPatternsRequestCondition;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo.BuilderConfiguration;
import org.springframework.web.servlet.mvc.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;

/**
 * Knows which requests may meet a guarded handler, by the mappings of the servlet that
 * will serve them. All other requests pass the filter as they are.
 * <p>
 * It answers yes where it cannot know. If a guarded handler is reached by a request that
 * has passed all the same, the call fails before that handler runs, and no request passes
 * any more. Thread-safe.
 */
final class GuardedRequestMatcher {

	private static final Logger logger = LoggerFactory.getLogger(GuardedRequestMatcher.class);

	private static final String PASSED = GuardedRequestMatcher.class.getName() + ".passed";

	private final Supplier<IdempotentOperationSource> operations;

	/** The handlers of each servlet, by its name. */
	private final Map<String, ServletHandlers> servlets = new ConcurrentHashMap<>();

	/** Counts the mappings that were registered since the first look at them. */
	private final AtomicInteger registrations = new AtomicInteger();

	private volatile boolean disproved;

	/**
	 * Creates the matcher.
	 * @param operations knows the operations
	 * @param disproved whether no request can be known to meet none
	 */
	GuardedRequestMatcher(Supplier<IdempotentOperationSource> operations, boolean disproved) {
		this.operations = operations;
		this.disproved = disproved;
	}

	/**
	 * Returns whether the dispatch of a request may meet a guarded handler. If not, the
	 * request is marked, so that a later dispatch knows.
	 */
	boolean mayMeet(HttpServletRequest request) {
		if (this.disproved || this.operations.get().readsBodies() || mayReach(request)) {
			return true;
		}
		request.setAttribute(PASSED, this);
		return false;
	}

	/** Returns whether a dispatch of the request has passed. */
	static boolean hasPassed(ServletRequest request) {
		return request.getAttribute(PASSED) != null;
	}

	/**
	 * Is told that a request needs what the filter gives. If the request has passed, none
	 * will pass from now on.
	 * @return whether it has passed
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
		if (known != null && known.servletContext == servletContext
				&& known.registrations == this.registrations.get()) {
			return known;
		}
		Object context = servletContext.getAttribute(FrameworkServlet.SERVLET_CONTEXT_PREFIX + servlet);
		if (!(context instanceof ApplicationContext beans)) {
			return null;
		}
		// Read before the mappings are, so that a mapping that is registered meanwhile
		// leads to another look.
		int seen = this.registrations.get();
		ServletHandlers found = new ServletHandlers(servletContext, seen, guarded(beans));
		this.servlets.put(servlet, found);
		return found;
	}

	/**
	 * Finds the guarded handlers of a servlet.
	 * @return the handlers, {@code null} if the mappings of the servlet do not tell
	 */
	private @Nullable List<GuardedHandler> guarded(ApplicationContext context) {
		// As the servlet looks for them; without one it takes mappings that are no beans.
		Collection<HandlerMapping> mappings = BeanFactoryUtils
			.beansOfTypeIncludingAncestors(context, HandlerMapping.class, true, false)
			.values();
		List<GuardedHandler> guarded = new ArrayList<>();
		boolean hasRoutes = context.getBeanProvider(RouteRegistry.class)
			.stream()
			.anyMatch((routes) -> !routes.operations().isEmpty());
		for (HandlerMapping mapping : mappings) {
			if (mapping instanceof RequestMappingInfoHandlerMapping handlers && observe(handlers)) {
				handlers.getHandlerMethods().forEach((info, handler) -> add(guarded, info, handler));
			}
			else if (mapping instanceof RouterFunctionMapping functions) {
				if (hasRoutes && functions.getRouterFunction() != null) {
					functions.getRouterFunction().accept(new Routes(functions.getPatternParser(), guarded));
				}
			}
			else if (!(mapping instanceof AbstractUrlHandlerMapping)) {
				return null;
			}
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
			logger.debug("The annotation of {} cannot be read, so it counts as guarded", handler, ex);
		}
		guarded.add(new GuardedHandler(info, evenIfSafe));
	}

	/**
	 * Looks out for mappings that are registered later: Spring asks for the name of each.
	 * @return whether they will be seen
	 */
	private boolean observe(RequestMappingInfoHandlerMapping mapping) {
		HandlerMethodMappingNamingStrategy<RequestMappingInfo> names = mapping.getNamingStrategy();
		if (names instanceof ObservedNames observed && observed.counter == this.registrations) {
			return true;
		}
		if (names != null) {
			mapping.setHandlerMethodMappingNamingStrategy(new ObservedNames(names, this.registrations));
		}
		return names != null;
	}

	/** Counts the names that a mapping asks for. */
	private record ObservedNames(HandlerMethodMappingNamingStrategy<RequestMappingInfo> names,
			AtomicInteger counter) implements HandlerMethodMappingNamingStrategy<RequestMappingInfo> {

		@Override
		public String getName(HandlerMethod handler, RequestMappingInfo mapping) {
			this.counter.incrementAndGet();
			return this.names.getName(handler, mapping);
		}

	}

	/**
	 * Collects the paths of functional routes. Which of them have a guard nothing tells,
	 * so all of them count.
	 */
	private static final class Routes implements RouterFunctions.Visitor {

		private static final String ANY = "/**";

		private final PathPatternParser parser;

		private final List<GuardedHandler> guarded;

		private final Deque<String> nested = new ArrayDeque<>();

		Routes(@Nullable PathPatternParser parser, List<GuardedHandler> guarded) {
			this.parser = (parser != null) ? parser : PathPatternParser.defaultInstance;
			this.guarded = guarded;
		}

		private String prefix() {
			return this.nested.isEmpty() ? "" : this.nested.peek();
		}

		private String anyPath() {
			return prefix().endsWith(ANY) ? prefix() : prefix() + ANY;
		}

		private void add(String path) {
			BuilderConfiguration configuration = new BuilderConfiguration();
			configuration.setPatternParser(this.parser);
			this.guarded.add(new GuardedHandler(RequestMappingInfo.paths(path).options(configuration).build(), false));
		}

		@Override
		public void startNested(RequestPredicate predicate) {
			PathOfPredicate path = PathOfPredicate.of(predicate);
			boolean fixed = !prefix().endsWith(ANY) && path.isFixed();
			this.nested.push(fixed ? prefix() + path.orEmpty() : anyPath());
		}

		@Override
		public void endNested(RequestPredicate predicate) {
			this.nested.pop();
		}

		@Override
		public void route(RequestPredicate predicate, HandlerFunction<?> handler) {
			PathOfPredicate path = PathOfPredicate.of(predicate);
			boolean known = !prefix().endsWith(ANY) && path.isKnown();
			add(known ? prefix() + path.orEmpty() : anyPath());
		}

		@Override
		public void resources(Function<ServerRequest, Optional<Resource>> lookup) {
			// Only safe methods of HTTP reach resources.
		}

		@Override
		public void attributes(Map<String, Object> attributes) {
			// They tell nothing about paths.
		}

		@Override
		public void unknown(RouterFunction<?> function) {
			add(anyPath());
		}

	}

	/** Finds the one path that a predicate asks for in any case. */
	private static final class PathOfPredicate implements RequestPredicates.Visitor {

		private @Nullable String path;

		/** How many alternatives and negations the visited part is in. */
		private int uncertain;

		private boolean several;

		private boolean foreign;

		static PathOfPredicate of(RequestPredicate predicate) {
			PathOfPredicate path = new PathOfPredicate();
			predicate.accept(path);
			return path;
		}

		/** Returns whether a route has this path, and no other. */
		boolean isKnown() {
			return this.path != null && !this.several;
		}

		/** Returns whether nested routes begin with this path, or all as they are. */
		boolean isFixed() {
			return !this.several && !this.foreign && !orEmpty().contains("*") && !orEmpty().endsWith("/");
		}

		String orEmpty() {
			return (this.path != null) ? this.path : "";
		}

		@Override
		public void path(String pattern) {
			this.several |= this.path != null || this.uncertain > 0;
			this.path = (pattern.isEmpty() || pattern.startsWith("/")) ? pattern : "/" + pattern;
		}

		@Override
		public void startOr() {
			this.uncertain++;
		}

		@Override
		public void endOr() {
			this.uncertain--;
		}

		@Override
		public void startNegate() {
			this.uncertain++;
		}

		@Override
		public void endNegate() {
			this.uncertain--;
		}

		/** A predicate of the application may take any part of the path away. */
		@Override
		public void unknown(RequestPredicate predicate) {
			this.foreign = true;
		}

		@Override
		public void method(Set<HttpMethod> methods) {
			// No path, as all that follow.
		}

		@Override
		public void pathExtension(String extension) {
		}

		@Override
		public void header(String name, String value) {
		}

		@Override
		public void param(String name, String value) {
		}

		/** Spring Framework 7 tells the versions that a route is for. */
		@SuppressWarnings({ "unused", "MissingOverride" })
		public void version(String version) {
		}

		@Override
		public void startAnd() {
		}

		@Override
		public void and() {
		}

		@Override
		public void endAnd() {
		}

		@Override
		public void or() {
		}

	}

	/** One mapping of a guarded handler. */
	private record GuardedHandler(RequestMappingInfo mapping, boolean evenIfSafe) {

		boolean mayTake(RequestMethod method) {
			if (method == RequestMethod.POST) {
				// A filter may yet make any other method of it, as forms ask for.
				return true;
			}
			Set<RequestMethod> methods = this.mapping.getMethodsCondition().getMethods();
			return (this.evenIfSafe || !HandlerRules.isSafe(method.name())) && (methods.isEmpty()
					|| methods.contains(method) || method == RequestMethod.HEAD && methods.contains(RequestMethod.GET));
		}

		boolean takesAnyMethod() {
			return this.mapping.getMethodsCondition().isEmpty();
		}

	}

	/** The guarded handlers of one servlet. */
	private static final class ServletHandlers {

		private final ServletContext servletContext;

		private final int registrations;

		private final Map<String, GuardedPaths> byMethod = new HashMap<>();

		private final @Nullable GuardedPaths otherMethods;

		ServletHandlers(ServletContext servletContext, int registrations, @Nullable List<GuardedHandler> guarded) {
			this.servletContext = servletContext;
			this.registrations = registrations;
			for (RequestMethod method : RequestMethod.values()) {
				this.byMethod.put(method.name(), paths(guarded, (handler) -> handler.mayTake(method)));
			}
			this.otherMethods = paths(guarded, GuardedHandler::takesAnyMethod);
		}

		/** Returns the patterns of the paths, {@code null} if it may be any path. */
		private static @Nullable GuardedPaths paths(@Nullable List<GuardedHandler> guarded,
				Predicate<GuardedHandler> selected) {
			if (guarded == null) {
				return null;
			}
			List<PathPattern> paths = new ArrayList<>();
			for (GuardedHandler handler : guarded) {
				if (selected.test(handler)) {
					PathPatternsRequestCondition condition = handler.mapping().getPathPatternsCondition();
					if (condition == null) {
						return null;
					}
					paths.addAll(condition.getPatterns());
				}
			}
			return GuardedPaths.of(paths);
		}

		boolean mayTake(HttpServletRequest request) {
			String method = request.getMethod();
			GuardedPaths paths = this.byMethod.containsKey(method) ? this.byMethod.get(method) : this.otherMethods;
			return paths == null || paths.mayMatch(request);
		}

	}

	/**
	 * The paths of guarded handlers.
	 *
	 * @param patterns their patterns
	 * @param plain those patterns that are a path
	 * @param ends how a path ends that a pattern matches, as far as each is sure
	 */
	private record GuardedPaths(List<PathPattern> patterns, Set<String> plain, List<String> ends) {

		static GuardedPaths of(List<PathPattern> patterns) {
			Set<String> plain = patterns.stream()
				.filter((pattern) -> !pattern.hasPatternSyntax())
				.map(PathPattern::getPatternString)
				.collect(Collectors.toUnmodifiableSet());
			return new GuardedPaths(patterns, plain,
					patterns.stream().map((pattern) -> end(pattern.getPatternString())).distinct().toList());
		}

		/** What is behind the last variable or wildcard, without slashes at the end. */
		private static String end(String pattern) {
			int from = pattern.length();
			while (from > 0 && "*?}".indexOf(pattern.charAt(from - 1)) < 0) {
				from--;
			}
			return pattern.substring(from, Math.max(from, lengthWithoutSlashes(pattern)));
		}

		private static int lengthWithoutSlashes(String path) {
			int length = path.length();
			while (length > 0 && path.charAt(length - 1) == '/') {
				length--;
			}
			return length;
		}

		boolean mayMatch(HttpServletRequest request) {
			if (this.patterns.isEmpty() || !mayEnd(request)) {
				return false;
			}
			if (isPlain(request)) {
				return true;
			}
			PathContainer path = ServletRequestPathUtils.parse(request).pathWithinApplication();
			return matches(path) || endsInSlash(path) && matches(path.subPath(0, path.elements().size() - 1));
		}

		/**
		 * Returns whether the path ends as one of the patterns does: most do not, and
		 * need not be taken apart.
		 */
		private boolean mayEnd(HttpServletRequest request) {
			String path = request.getRequestURI();
			if (path.indexOf('%') >= 0 || path.indexOf(';') >= 0
					|| request.getAttribute(RequestDispatcher.INCLUDE_REQUEST_URI) != null) {
				// What is compared is another text.
				return true;
			}
			int length = lengthWithoutSlashes(path);
			for (String end : this.ends) {
				if (path.regionMatches(true, length - end.length(), end, 0, end.length())) {
					return true;
				}
			}
			return false;
		}

		/**
		 * Returns whether the path is one of the patterns, and need not be taken apart.
		 */
		private boolean isPlain(HttpServletRequest request) {
			String path = request.getRequestURI();
			String context = request.getContextPath();
			return path.startsWith(context) && this.plain.contains(path.substring(context.length()));
		}

		private boolean matches(PathContainer path) {
			for (PathPattern pattern : this.patterns) {
				if (pattern.matches(path)) {
					return true;
				}
			}
			return false;
		}

		/** Spring's UrlHandlerFilter takes a slash at the end away, behind our filter. */
		private static boolean endsInSlash(PathContainer path) {
			List<PathContainer.Element> elements = path.elements();
			return elements.size() > 1 && elements.get(elements.size() - 1) instanceof PathContainer.Separator;
		}

	}

}
