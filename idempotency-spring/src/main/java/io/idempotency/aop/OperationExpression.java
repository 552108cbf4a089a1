package io.idempotency.aop;

import java.util.Map;
import java.util.Set;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;

/**
 * One SpEL expression of an operation. It is parsed once, compiled by SpEL when it is
 * used often, and evaluated on a context that holds only the call. Immutable and
 * thread-safe.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class OperationExpression {

	private final String attribute;

	private final Expression expression;

	private final Map<String, Integer> variables;

	private final EvaluationContext shared;

	private final Set<String> rootMethods;

	OperationExpression(String attribute, Expression expression, Map<String, Integer> variables,
			EvaluationContext shared, Set<String> rootMethods) {
		this.attribute = attribute;
		this.expression = expression;
		this.variables = variables;
		this.shared = shared;
		this.rootMethods = rootMethods;
	}

	/**
	 * Returns whether the expression calls a method of the root object.
	 * @param rootMethod the name of the method, e.g. {@code header}
	 * @return whether it does
	 */
	public boolean calls(String rootMethod) {
		return this.rootMethods.contains(rootMethod);
	}

	/**
	 * Returns the value for one call. An exception of a method or bean that the
	 * expression calls comes out unchanged.
	 * @param call the call
	 * @param values the values of the request
	 * @return the value
	 * @throws IllegalStateException if the expression fails; the message names the method
	 * and the expression
	 */
	@Nullable Object value(OperationCall call, RequestValues values) {
		try {
			return this.expression.getValue(new CallContext(this.shared, this.variables, call, values));
		}
		catch (EvaluationException ex) {
			throw failure(call, ex);
		}
	}

	/**
	 * Makes the exception for an expression without a useful value.
	 * @param call the call
	 * @param cause what is wrong
	 * @return the exception
	 */
	IllegalStateException failure(OperationCall call, RuntimeException cause) {
		return new IllegalStateException(
				this + " of '" + MethodNames.describe(call.operation()) + "' failed: " + cause.getMessage(), cause);
	}

	@Override
	public String toString() {
		return "The " + this.attribute + " expression '" + this.expression.getExpressionString() + "'";
	}

}
