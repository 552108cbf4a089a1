package io.idempotency.autoconfigure;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.idempotency.NotIdempotent;
import io.idempotency.OperationCoverage;
import io.idempotency.http.DecidedRoute;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Lists the operations of one application context and its ancestors. The list is created
 * when it is read, so it costs nothing in an application that does not read it.
 */
final class ApplicationCoverage implements OperationCoverage {

	private static final Set<String> UNSAFE = Set.of("POST", "PUT", "PATCH", "DELETE");

	private static final Pattern UNSAFE_METHOD = Pattern.compile("\\b(POST|PUT|PATCH|DELETE)\\b");

	private static final Pattern ANY_METHOD = Pattern.compile("\\b(GET|HEAD|OPTIONS|TRACE)\\b");

	private static final String MVC = "org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping";

	private static final String WEBFLUX = "org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping";

	private static final List<String> ROUTES = List.of("org.springframework.web.servlet.function.RouterFunction",
			"org.springframework.web.reactive.function.server.RouterFunction");

	private final ConfigurableListableBeanFactory beanFactory;

	private final IdempotentOperationSource operations;

	ApplicationCoverage(ConfigurableListableBeanFactory beanFactory, IdempotentOperationSource operations) {
		this.beanFactory = beanFactory;
		this.operations = operations;
	}

	@Override
	public List<Entry> entries() {
		List<Entry> entries = new ArrayList<>();
		for (Object mapping : beans(MVC)) {
			WebMvc.handlers(mapping,
					(methods, paths, method, type) -> addHandler(methods, paths, method, type, entries));
		}
		for (Object mapping : beans(WEBFLUX)) {
			WebFlux.handlers(mapping,
					(methods, paths, method, type) -> addHandler(methods, paths, method, type, entries));
		}
		ROUTES.forEach((type) -> beans(type).forEach((route) -> addRoutes(route, "", null, entries)));
		for (String name : this.beanFactory.getBeanDefinitionNames()) {
			Class<?> type = AutoProxyUtils.determineTargetClass(this.beanFactory, name);
			if (type != null && !isOfLibrary(type)) {
				addMethods(ClassUtils.getUserClass(type), entries);
			}
		}
		return entries.stream().distinct().sorted(Comparator.comparing(Entry::operation)).toList();
	}

	private Collection<Object> beans(String typeName) {
		ClassLoader loader = this.beanFactory.getBeanClassLoader();
		if (!ClassUtils.isPresent(typeName, loader)) {
			return List.of();
		}
		return Stream.of(this.beanFactory.getBeanNamesForType(ClassUtils.resolveClassName(typeName, loader)))
			.filter((name) -> !ROUTES.contains(typeName) || !isOfLibrary(declaringType(name)))
			.map(this.beanFactory::getBean)
			.toList();
	}

	/**
	 * Returns the class with the bean method, or this class if the bean has no bean
	 * method.
	 */
	private Class<?> declaringType(String name) {
		String factory = this.beanFactory.containsBeanDefinition(name)
				? this.beanFactory.getMergedBeanDefinition(name).getFactoryBeanName() : null;
		Class<?> type = (factory != null) ? this.beanFactory.getType(factory) : null;
		return (type != null) ? type : ApplicationCoverage.class;
	}

	private static boolean isOfLibrary(Class<?> type) {
		return type.getName().startsWith("org.springframework.") || type.getName().startsWith("java.");
	}

	private void addHandler(Set<String> methods, Set<String> paths, Method method, Class<?> type, List<Entry> entries) {
		boolean changes = methods.isEmpty() || methods.stream().anyMatch(UNSAFE::contains);
		if (changes && !isOfLibrary(type)) {
			String request = methods.isEmpty() ? "any method" : String.join(", ", methods);
			add(request + " " + String.join(", ", paths), method, ClassUtils.getUserClass(type), entries);
		}
	}

	private void addMethods(Class<?> type, List<Entry> entries) {
		MethodIntrospector.selectMethods(type, AnnotatedMethods::kind)
			.forEach((method, kind) -> add(kind, method, type, entries));
	}

	private void add(String kind, Method method, Class<?> type, List<Entry> entries) {
		String parameters = Stream.of(method.getParameterTypes())
			.map(Class::getSimpleName)
			.collect(Collectors.joining(", "));
		String name = kind + " (" + type.getSimpleName() + "#" + method.getName() + "(" + parameters + "))";
		MergedAnnotation<NotIdempotent> reason = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY)
			.get(NotIdempotent.class);
		if (reason.isPresent()) {
			entries.add(new Entry(name, Status.NOT_IDEMPOTENT, reason.getString("value")));
		}
		else {
			boolean guarded = this.operations.operation(method, type) != null;
			entries.add(new Entry(name, guarded ? Status.GUARDED : Status.UNDECIDED, null));
		}
	}

	/**
	 * Adds the routes of a router function. Spring does not show the filters of a route,
	 * so they are read from its fields.
	 * @param prefix the predicates around the routes
	 * @param decision the decision of a filter around the routes
	 */
	private static void addRoutes(Object route, String prefix, @Nullable DecidedRoute decision, List<Entry> entries) {
		DecidedRoute decided = (decision != null) ? decision : decision(field(route, "filterFunction"));
		Object predicate = field(route, "predicate");
		String path = (predicate != null) ? (prefix + " " + predicate).trim() : prefix;
		if (field(route, "handlerFunction") != null) {
			if (UNSAFE_METHOD.matcher(path).find() || !ANY_METHOD.matcher(path).find()) {
				Status status = (decided == null) ? Status.UNDECIDED
						: (decided.reason() != null) ? Status.NOT_IDEMPOTENT : Status.GUARDED;
				entries.add(new Entry("route " + path, status, (decided != null) ? decided.reason() : null));
			}
			return;
		}
		for (String inner : List.of("first", "second", "routerFunction", "delegate", "routerFunctions")) {
			Object value = field(route, inner);
			Collection<?> values = (value instanceof Collection<?> several) ? several
					: (value != null) ? List.of(value) : List.of();
			values.forEach((each) -> addRoutes(each, path, decided, entries));
		}
	}

	/** Finds the filter of this library in a filter that may be composed of several. */
	private static @Nullable DecidedRoute decision(@Nullable Object filter) {
		if (filter instanceof DecidedRoute decided) {
			return decided;
		}
		if (filter == null || !filter.getClass().isHidden()) {
			return null;
		}
		for (Field captured : filter.getClass().getDeclaredFields()) {
			if (!Modifier.isStatic(captured.getModifiers())) {
				DecidedRoute found = decision(field(filter, captured.getName()));
				if (found != null) {
					return found;
				}
			}
		}
		return null;
	}

	private static Set<String> texts(Collection<?> values) {
		return values.stream().map(Object::toString).collect(Collectors.toCollection(TreeSet::new));
	}

	private static @Nullable Object field(Object target, String name) {
		Field field = ReflectionUtils.findField(target.getClass(), name);
		if (field == null) {
			return null;
		}
		ReflectionUtils.makeAccessible(field);
		return ReflectionUtils.getField(field, target);
	}

	private interface Handlers {

		void add(Set<String> methods, Set<String> paths, Method method, Class<?> type);

	}

	/** Recognizes framework annotations by name, without loading them. */
	private static final class AnnotatedMethods {

		private static final List<String> MESSAGES = List.of("org.springframework.kafka.annotation.KafkaListener",
				"org.springframework.kafka.annotation.KafkaHandler",
				"org.springframework.amqp.rabbit.annotation.RabbitListener",
				"org.springframework.amqp.rabbit.annotation.RabbitHandler",
				"org.springframework.jms.annotation.JmsListener");

		private static final List<String> TOOLS = List.of("org.springframework.ai.tool.annotation.Tool",
				"org.springframework.ai.mcp.annotation.McpTool", "org.springaicommunity.mcp.annotation.McpTool");

		private static final String MUTATION = "org.springframework.graphql.data.method.annotation.SchemaMapping";

		static @Nullable String kind(Method method) {
			MergedAnnotations annotations = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
			if (MESSAGES.stream().anyMatch(annotations::isPresent)) {
				return "listener";
			}
			if (TOOLS.stream().anyMatch(annotations::isPresent)) {
				return "tool";
			}
			MergedAnnotation<?> mapping = annotations.get(MUTATION);
			return (mapping.isPresent() && mapping.getString("typeName").equals("Mutation")) ? "mutation" : null;
		}

	}

	/** Reads the mapping of Spring MVC, which may be absent. */
	private static final class WebMvc {

		static void handlers(Object mapping, Handlers handlers) {
			((org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping) mapping)
				.getHandlerMethods()
				.forEach((info, handler) -> handlers.add(texts(info.getMethodsCondition().getMethods()),
						info.getPatternValues(), handler.getMethod(), handler.getBeanType()));
		}

	}

	/** Reads the mapping of WebFlux, which may be absent. */
	private static final class WebFlux {

		static void handlers(Object mapping, Handlers handlers) {
			((org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping) mapping)
				.getHandlerMethods()
				.forEach((info, handler) -> handlers.add(texts(info.getMethodsCondition().getMethods()),
						texts(info.getPatternsCondition().getPatterns()), handler.getMethod(), handler.getBeanType()));
		}

	}

}
