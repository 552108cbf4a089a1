package io.idempotency.interceptor;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;

import io.idempotency.Internal;
import io.idempotency.interceptor.GuardedMethod.GuardMisconfiguredException;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.BeanResolver;
import org.springframework.expression.ConstructorResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.IndexAccessor;
import org.springframework.expression.MethodResolver;
import org.springframework.expression.OperatorOverloader;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.TypeComparator;
import org.springframework.expression.TypeConverter;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.TypedValue;

/**
 * One SpEL expression of an operation, or an equivalent function. An expression is parsed
 * once, compiled by SpEL if it is used often, and evaluated on a context that contains
 * only the call. Immutable and thread-safe.
 *
 * @hidden
 */
@Internal
public final class OperationExpression {

	private final String attribute;

	/** The element with the expression, for messages. */
	private final String place;

	private final BiFunction<Object, @Nullable Object[], @Nullable Object> evaluation;

	private final Set<String> rootMembers;

	private OperationExpression(String attribute, String place,
			BiFunction<Object, @Nullable Object[], @Nullable Object> evaluation, Set<String> rootMembers) {
		this.attribute = attribute;
		this.place = place;
		this.evaluation = evaluation;
		this.rootMembers = rootMembers;
	}

	public OperationExpression(String attribute, String method, Expression expression, Map<String, Integer> variables,
			EvaluationContext shared, Set<String> rootMembers) {
		this(attribute + " expression '" + expression.getExpressionString() + "'", method,
				(root, arguments) -> expression.getValue(new CallContext(shared, variables, root, arguments)),
				rootMembers);
	}

	/**
	 * Creates the expression of a function, which does not read the request.
	 * @param attribute the attribute that it replaces, for messages
	 * @param place the element with the function, for messages
	 * @param function computes the value from the arguments of a call
	 */
	public static OperationExpression of(String attribute, String place,
			Function<@Nullable Object[], @Nullable Object> function) {
		return new OperationExpression(attribute + " function", place, (root, arguments) -> function.apply(arguments),
				Set.of());
	}

	/**
	 * Returns whether the expression calls a member of the root object.
	 * @param rootMember the name of a method or property, e.g. {@code header}
	 */
	public boolean calls(String rootMember) {
		return this.rootMembers.contains(rootMember);
	}

	/**
	 * Returns the value for one call. An exception of a method or bean that the
	 * expression calls is thrown unchanged, with a suppressed exception that contains the
	 * expression.
	 * @throws IllegalStateException if the expression fails; the message contains the
	 * method and the expression
	 */
	@Nullable Object value(Object root, @Nullable Object[] arguments) {
		try {
			return this.evaluation.apply(root, arguments);
		}
		catch (EvaluationException ex) {
			throw failure(ex);
		}
		catch (RuntimeException ex) {
			ex.addSuppressed(failure(ex));
			throw ex;
		}
	}

	/**
	 * Creates the exception for an expression without a usable value.
	 * @param cause the problem
	 */
	GuardMisconfiguredException failure(RuntimeException cause) {
		return new GuardMisconfiguredException(describe() + " failed: " + cause.getMessage(), cause);
	}

	/** Returns the expression and its method for messages. */
	String describe() {
		return this + " of '" + this.place + "'";
	}

	@Override
	public String toString() {
		return "The " + this.attribute;
	}

	/**
	 * The context of one evaluation. It contains the arguments and the root object of one
	 * call. All other parts are shared by all calls, because creating them again would
	 * cost more than the evaluation.
	 */
	private static final class CallContext implements EvaluationContext {

		private final EvaluationContext shared;

		private final Map<String, Integer> variables;

		private final @Nullable Object[] arguments;

		private final TypedValue root;

		CallContext(EvaluationContext shared, Map<String, Integer> variables, Object root,
				@Nullable Object[] arguments) {
			this.shared = shared;
			this.variables = variables;
			this.arguments = arguments;
			this.root = new TypedValue(root);
		}

		@Override
		public TypedValue getRootObject() {
			return this.root;
		}

		@Override
		public @Nullable Object lookupVariable(String name) {
			Integer index = this.variables.get(name);
			return (index != null) ? this.arguments[index] : null;
		}

		@Override
		public void setVariable(String name, @Nullable Object value) {
			throw new IllegalStateException("The variable '" + name + "' is an argument of the call and cannot be set");
		}

		@Override
		public boolean isAssignmentEnabled() {
			return false;
		}

		@Override
		public List<PropertyAccessor> getPropertyAccessors() {
			return this.shared.getPropertyAccessors();
		}

		@Override
		public List<IndexAccessor> getIndexAccessors() {
			return this.shared.getIndexAccessors();
		}

		@Override
		public List<ConstructorResolver> getConstructorResolvers() {
			return this.shared.getConstructorResolvers();
		}

		@Override
		public List<MethodResolver> getMethodResolvers() {
			return this.shared.getMethodResolvers();
		}

		@Override
		public @Nullable BeanResolver getBeanResolver() {
			return this.shared.getBeanResolver();
		}

		@Override
		public TypeLocator getTypeLocator() {
			return this.shared.getTypeLocator();
		}

		@Override
		public TypeConverter getTypeConverter() {
			return this.shared.getTypeConverter();
		}

		@Override
		public TypeComparator getTypeComparator() {
			return this.shared.getTypeComparator();
		}

		@Override
		public OperatorOverloader getOperatorOverloader() {
			return this.shared.getOperatorOverloader();
		}

	}

}
