package io.idempotency.aop.operation;

import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalAmount;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.aop.CallRoot;
import io.idempotency.aop.operation.DeclaredType.Answer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.VariableReference;

/**
 * Finds, by the declared types of the arguments, mistakes that would otherwise fail at
 * the first call: properties that no value has, and values that cannot be a key. If the
 * types do not tell, the mistake shows at the first call.
 */
final class ExpressionTypeCheck {

	private static final Logger logger = LoggerFactory.getLogger(ExpressionTypeCheck.class);

	/** The types whose values have the same text on every node. */
	private static final List<Class<?>> TEXTS = List.of(CharSequence.class, Number.class, Boolean.class,
			Character.class, Enum.class, UUID.class, TemporalAccessor.class, TemporalAmount.class);

	private final IdempotentAnnotation annotation;

	private final String attribute;

	private final String text;

	private final Map<String, DeclaredType> variables = new HashMap<>();

	ExpressionTypeCheck(IdempotentAnnotation annotation, String attribute, String text,
			Map<String, Integer> variables) {
		this.annotation = annotation;
		this.attribute = attribute;
		this.text = text;
		variables.forEach((name, index) -> {
			DeclaredType type = DeclaredType
				.of(ResolvableType.forMethodParameter(annotation.method(), index, annotation.targetClass()));
			if (type != null) {
				this.variables.put(name, type);
			}
		});
	}

	/**
	 * Checks an expression.
	 * @param expression the parsed expression
	 * @throws IdempotencyConfigurationException if the expression fails for all values
	 * that the types allow. As a key or a scope, a concrete class, a collection or a map
	 * is refused, too, although an unknown subclass could be text
	 */
	void check(SpelNode expression) {
		DeclaredType type = typeOf(expression, DeclaredType.of(CallRoot.class));
		switch (this.attribute) {
			case "key" -> checkKey(expression, type);
			case "scope" -> checkText(type, "a scope");
			case "condition" -> checkCondition(type);
			default -> {
				// A fingerprint may have any type, because any value that can be written
				// as JSON can be compared.
			}
		}
	}

	private void checkKey(SpelNode expression, @Nullable DeclaredType type) {
		if (expression instanceof InlineList) {
			for (int i = 0; i < expression.getChildCount(); i++) {
				checkText(typeOf(expression.getChild(i), DeclaredType.of(CallRoot.class)), "a key");
			}
		}
		else if (type != null && (type.isCollection() || type.isArray())) {
			checkOrder(expression, type);
			checkText(type.element(), "a key");
		}
		else {
			checkText(type, "a key");
		}
	}

	/** A set itself is a key without an order, but what is taken from it is a list. */
	private void checkOrder(SpelNode expression, DeclaredType type) {
		SpelNode last = (expression instanceof CompoundExpression) ? expression.getChild(expression.getChildCount() - 1)
				: expression;
		if (type.isUnordered() && (last instanceof Projection || last instanceof Selection)) {
			throw this.annotation.problem(
					it() + " gives the elements of a set in their order, which differs from node to node",
					"Sort them, e.g. \"new java.util.TreeSet(" + this.text + ")\", or take a list");
		}
	}

	private void checkText(@Nullable DeclaredType type, String what) {
		if (type == null) {
			return;
		}
		Answer text = type.isOneOf(TEXTS);
		boolean container = type.isCollection() || type.isMap();
		if (text == Answer.NO || text == Answer.PERHAPS && (type.isConcrete() || container)) {
			throw this.annotation.problem(it() + " gives " + type.name() + ", which cannot be " + what,
					"Let it give text, a number, a boolean, an enum, a UUID or a java.time value, e.g. a property of "
							+ "the argument" + (what.equals("a key") ? ", or a list of these" : ""));
		}
	}

	private void checkCondition(@Nullable DeclaredType type) {
		if (type != null && type.isOneOf(List.of(Boolean.class)) == Answer.NO) {
			throw this.annotation.problem(it() + " gives " + type.name() + ", which is neither true nor false",
					"Compare it, e.g. \"#order.total > 0\"");
		}
	}

	/**
	 * Returns the type of the value of a node, and checks all nodes below it.
	 * @param active the type whose members bare names mean, {@code null} if it is not
	 * known
	 * @return the type, {@code null} if it is not known
	 */
	private @Nullable DeclaredType typeOf(SpelNode node, @Nullable DeclaredType active) {
		if (node instanceof CompoundExpression) {
			DeclaredType type = typeOf(node.getChild(0), active);
			for (int i = 1; i < node.getChildCount(); i++) {
				type = step(type, node.getChild(i), active);
			}
			return type;
		}
		if (node instanceof VariableReference) {
			return switch (node.toStringAST()) {
				case "#root" -> DeclaredType.of(CallRoot.class);
				case "#this" -> active;
				default -> this.variables.get(node.toStringAST().substring(1));
			};
		}
		if (node instanceof PropertyOrFieldReference || node instanceof MethodReference || node instanceof Indexer
				|| node instanceof Projection || node instanceof Selection) {
			return step(active, node, active);
		}
		checkChildren(node, active);
		return null;
	}

	private void checkChildren(SpelNode node, @Nullable DeclaredType active) {
		for (int i = 0; i < node.getChildCount(); i++) {
			// As a key of a map, a bare word is a literal text.
			if (!(node instanceof InlineMap && i % 2 == 0)) {
				typeOf(node.getChild(i), active);
			}
		}
	}

	/** Takes one step of a path, and returns the type after the dot or the bracket. */
	private @Nullable DeclaredType step(@Nullable DeclaredType type, SpelNode node, @Nullable DeclaredType active) {
		if (node instanceof PropertyOrFieldReference property) {
			return property(type, property.getName());
		}
		if (node instanceof MethodReference method) {
			checkChildren(node, active);
			return method(type, method.getName());
		}
		if (node instanceof Indexer) {
			return indexed(type, node.getChild(0), active);
		}
		if (node instanceof Projection || node instanceof Selection) {
			// Names inside the brackets mean members of the elements, or of the entries
			// of a map.
			DeclaredType element = (type != null && !type.isMap()) ? type.element() : null;
			DeclaredType inner = typeOf(node.getChild(0), element);
			return (node instanceof Projection) ? many(type, inner) : selected(node, type, element);
		}
		checkChildren(node, active);
		return null;
	}

	private static @Nullable DeclaredType many(@Nullable DeclaredType source, @Nullable DeclaredType element) {
		Class<?> type = (source != null && source.isUnordered()) ? Set.class : List.class;
		return DeclaredType.of((element != null) ? ResolvableType.forClassWithGenerics(type, element.type())
				: ResolvableType.forClass(type));
	}

	private static @Nullable DeclaredType selected(SpelNode node, @Nullable DeclaredType type,
			@Nullable DeclaredType element) {
		if (type == null || type.isMap()) {
			return null;
		}
		return node.toStringAST().startsWith("?") ? many(type, element) : element;
	}

	private @Nullable DeclaredType indexed(@Nullable DeclaredType type, SpelNode index, @Nullable DeclaredType active) {
		if (!(index instanceof PropertyOrFieldReference)) {
			typeOf(index, active);
		}
		if (type == null || type.isMap() || type.isCollection() || type.isArray()) {
			return (type != null) ? type.element() : null;
		}
		boolean named = index instanceof StringLiteral && type.isOneOf(List.of(CharSequence.class)) != Answer.YES;
		return named ? property(type, String.valueOf(((StringLiteral) index).getLiteralValue().getValue())) : null;
	}

	private @Nullable DeclaredType property(@Nullable DeclaredType type, String name) {
		if (type == null) {
			return null;
		}
		require(type, name, type.hasProperty(name));
		return type.property(name);
	}

	private @Nullable DeclaredType method(@Nullable DeclaredType type, String name) {
		if (type == null) {
			return null;
		}
		require(type, name, type.hasMethod(name));
		return type.result(name);
	}

	private void require(DeclaredType type, String name, Answer answer) {
		String problem = it() + " refers to '" + name + "', which " + type.name() + " does not have";
		String action = "Use one of: " + type.properties();
		if (answer == Answer.NO) {
			throw this.annotation.problem(problem, action);
		}
		if (answer == Answer.PERHAPS && type.isConcrete()) {
			logger.warn("@Idempotent on '{}': {}: calls will fail unless their argument is of a subclass that has. {}",
					this.annotation.guarded().describe(), problem, action);
		}
	}

	private String it() {
		return "its " + this.attribute + " expression '" + this.text + "'";
	}

}
