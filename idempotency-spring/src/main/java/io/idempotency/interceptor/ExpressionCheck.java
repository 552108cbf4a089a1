package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.interceptor.RequestValues.BodyPointers;

import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Finds mistakes at startup: variables that are not parameters, names that the root
 * object does not have (mostly a forgotten {@code #}), and properties that a parameter of
 * a final class or a record does not have. The first call reports all other mistakes.
 */
final class ExpressionCheck {

	private static final Set<String> ROOT_VARIABLES = Set.of("root", "this");

	private static final Set<String> ROOT_PROPERTIES = Set.of("principal", "method", "target");

	private static final Set<String> ROOT_METHODS = Set.of("header", "param", "body", "messageId");

	private final IdempotentAnnotation annotation;

	private final String attribute;

	private final String text;

	private final Map<String, Integer> variables;

	private final boolean namesKnown;

	private final Set<String> rootMembers = new HashSet<>();

	ExpressionCheck(IdempotentAnnotation annotation, String attribute, String text, Map<String, Integer> variables,
			boolean namesKnown) {
		this.annotation = annotation;
		this.attribute = attribute;
		this.text = text;
		this.variables = variables;
		this.namesKnown = namesKnown;
	}

	/**
	 * Checks an expression.
	 * @return the members of the root object that the expression reads
	 */
	Set<String> check(SpelNode node) {
		check(node, true, true);
		return Set.copyOf(this.rootMembers);
	}

	/**
	 * Checks a node and all nodes below it.
	 * @param onRoot whether plain names are members of the root object, and not of an
	 * element
	 * @param head whether the node stands alone, and not after a dot or as a literal
	 */
	private void check(SpelNode node, boolean onRoot, boolean head) {
		if (node instanceof VariableReference || node instanceof FunctionReference) {
			checkVariable(nameOf(node).substring(1));
		}
		else if (onRoot && head && node instanceof PropertyOrFieldReference) {
			checkRoot(nameOf(node), ROOT_PROPERTIES);
			this.rootMembers.add(nameOf(node));
		}
		else if (onRoot && head && node instanceof MethodReference) {
			checkRoot(nameOf(node), ROOT_METHODS);
			this.rootMembers.add(nameOf(node));
			checkPointer(node);
		}
		else if (node instanceof CompoundExpression && node.getChild(0) instanceof VariableReference variable
				&& node.getChild(1) instanceof PropertyOrFieldReference property) {
			checkProperty(nameOf(variable).substring(1), property.getName());
		}
		boolean childrenOnRoot = onRoot && !(node instanceof Projection) && !(node instanceof Selection);
		for (int i = 0; i < node.getChildCount(); i++) {
			check(node.getChild(i), childrenOnRoot, isHead(node, i));
		}
	}

	private static boolean isHead(SpelNode parent, int child) {
		if (parent instanceof CompoundExpression) {
			return child == 0;
		}
		// In an index, and as a key of a map, a plain word is a literal text.
		return !(parent instanceof Indexer) && !(parent instanceof InlineMap && child % 2 == 0);
	}

	/**
	 * Returns the name in a node. Only the text of the node shows it: {@code name},
	 * {@code #name} or {@code name(…)}.
	 */
	private static String nameOf(SpelNode node) {
		String text = node.toStringAST();
		int arguments = text.indexOf('(');
		return (arguments < 0) ? text : text.substring(0, arguments);
	}

	private void checkVariable(String name) {
		if (this.variables.containsKey(name) || ROOT_VARIABLES.contains(name)) {
			return;
		}
		throw problem("'#" + name + "', which is not an argument of the method", argumentsInstead());
	}

	private String argumentsInstead() {
		if (!this.namesKnown) {
			return "Compile the class with -parameters, or use #a0, #a1, …";
		}
		return this.variables.isEmpty()
				? "The method has no arguments. Use header('…'), param('…'), body('…'), principal or a bean (@name)"
				: "Use one of the arguments: #" + String.join(", #", new TreeSet<>(this.variables.keySet()));
	}

	private void checkProperty(String variable, String name) {
		Integer index = this.variables.get(variable);
		if (index == null || ROOT_VARIABLES.contains(variable)) {
			return;
		}
		Class<?> type = ClassUtils.resolvePrimitiveIfNecessary(this.annotation.method().getParameterTypes()[index]);
		if (hasKnownProperties(type) && !hasProperty(type, name)) {
			throw problem("'" + name + "', which " + type.getSimpleName() + " does not have",
					"Use one of: " + String.join(", ", properties(type)));
		}
	}

	/** Excludes arrays, static members and optionals, which SpEL reads in other ways. */
	private static boolean hasKnownProperties(Class<?> type) {
		return Modifier.isFinal(type.getModifiers()) && !type.isArray() && type != Class.class && type != Optional.class
				&& !Map.class.isAssignableFrom(type);
	}

	private static boolean hasProperty(Class<?> type, String name) {
		String capitalized = StringUtils.capitalize(name);
		List<String> readers = List.of(name, "get" + name, "is" + name, "get" + capitalized, "is" + capitalized);
		return readers(type).anyMatch((method) -> readers.contains(method.getName()))
				|| Arrays.stream(type.getFields()).anyMatch((field) -> field.getName().equals(name));
	}

	private static Set<String> properties(Class<?> type) {
		Set<String> names = new TreeSet<>();
		readers(type).forEach((method) -> names.add(propertyOf(method.getName())));
		Arrays.stream(type.getFields()).forEach((field) -> names.add(field.getName()));
		Arrays.stream(Object.class.getMethods()).forEach((method) -> names.remove(propertyOf(method.getName())));
		return names;
	}

	private static Stream<Method> readers(Class<?> type) {
		return Arrays.stream(type.getMethods())
			.filter((method) -> method.getParameterCount() == 0 && method.getReturnType() != void.class);
	}

	private static String propertyOf(String method) {
		for (String prefix : List.of("get", "is")) {
			if (method.length() > prefix.length() && method.startsWith(prefix)) {
				return StringUtils.uncapitalizeAsProperty(method.substring(prefix.length()));
			}
		}
		return method;
	}

	private void checkRoot(String name, Set<String> known) {
		if (!known.contains(name)) {
			throw problem("'" + name + "', which does not exist",
					"Write '#" + name + "' for an argument and '@" + name + "' for a bean. Without a prefix, use "
							+ "header('…'), param('…'), body('…'), principal, method and target");
		}
	}

	private void checkPointer(SpelNode node) {
		if (nameOf(node).equals("body") && node.getChildCount() == 1
				&& node.getChild(0) instanceof StringLiteral pointer) {
			BodyPointers.check(String.valueOf(pointer.getLiteralValue().getValue()), this.attribute,
					this.annotation::problem);
		}
	}

	private IdempotencyConfigurationException problem(String unknown, String action) {
		return this.annotation.problem("its " + this.attribute + " expression '" + this.text + "' refers to " + unknown,
				action);
	}

}
