package io.idempotency.aop;

import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.BeanResolver;
import org.springframework.expression.ConstructorResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.IndexAccessor;
import org.springframework.expression.MethodResolver;
import org.springframework.expression.OperatorOverloader;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.TypeComparator;
import org.springframework.expression.TypeConverter;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.TypedValue;

/**
 * The context of one evaluation. It has the arguments and the root object of one call.
 * All other parts are shared by all calls, because building them anew would cost more
 * than the evaluation.
 */
final class CallContext implements EvaluationContext {

	private final EvaluationContext shared;

	private final Map<String, Integer> variables;

	private final @Nullable Object[] arguments;

	private final TypedValue root;

	CallContext(EvaluationContext shared, Map<String, Integer> variables, OperationCall call, RequestValues values) {
		this.shared = shared;
		this.variables = variables;
		this.arguments = call.arguments();
		this.root = new TypedValue(new CallRoot(call, values));
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
		throw new IllegalStateException("The variable '" + name + "' is an argument of the call: it cannot be set");
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
