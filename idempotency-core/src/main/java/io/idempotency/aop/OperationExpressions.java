package io.idempotency.aop;

import io.idempotency.key.Caller;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.Expression;

/** Evaluates the expressions of operations. */
interface OperationExpressions {

	@Nullable Object value(Expression expression, OperationCall call, RequestValues values);

	boolean isTrue(Expression expression, OperationCall call, RequestValues values);

	Caller scope(Expression expression, OperationCall call, RequestValues values);

	IllegalStateException failure(String attribute, OperationCall call, RuntimeException cause);

}
