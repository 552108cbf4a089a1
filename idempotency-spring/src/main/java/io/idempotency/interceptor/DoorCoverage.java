package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.util.Optional;

import io.idempotency.IdempotencyMode;
import io.idempotency.interceptor.IdempotentOperation.FingerprintSource;
import io.idempotency.engine.WorkTransactions;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.util.ReflectionUtils;

/** Answers, at start-up, questions about methods that depend on the doors. */
final class DoorCoverage {

	private final ObjectProvider<OperationDoor> doors;

	DoorCoverage(ObjectProvider<OperationDoor> doors) {
		this.doors = doors;
	}

	boolean isCovered(IdempotentAnnotation annotation) {
		return isCovered(annotation.method(), annotation.targetClass());
	}

	/** Returns whether calls come with a request, which a door compares. */
	boolean hasRequests(IdempotentAnnotation annotation) {
		return hasRequests(annotation.method(), annotation.targetClass());
	}

	private boolean hasRequests(Method method, Class<?> targetClass) {
		return this.doors.stream()
			.anyMatch((door) -> door.covers(method, targetClass) || door.hasRequests(method, targetClass));
	}

	private boolean isCovered(Method method, Class<?> targetClass) {
		return this.doors.stream().anyMatch((door) -> door.covers(method, targetClass));
	}

	/**
	 * Returns what to write on a method that has no place of the key, {@code null} if no
	 * door knows better than the others.
	 */
	@Nullable String adviceForKey(IdempotentAnnotation annotation) {
		return this.doors.stream()
			.map((door) -> Optional.ofNullable(door.adviceForKey(annotation.method(), annotation.targetClass())))
			.flatMap(Optional::stream)
			.findFirst()
			.orElse(null);
	}

	/**
	 * Returns the place of the key of a method whose annotation names none, {@code null}
	 * if no door has one.
	 */
	@Nullable KeySource defaultKey(IdempotentAnnotation annotation) {
		return this.doors.stream()
			.map((door) -> Optional.ofNullable(door.defaultKey(annotation.method(), annotation.targetClass())))
			.flatMap(Optional::stream)
			.findFirst()
			.orElse(null);
	}

	/**
	 * Returns whether calls come with something that has keys, though it is no request.
	 */
	boolean hasKeys(IdempotentAnnotation annotation) {
		return this.doors.stream().anyMatch((door) -> door.hasKeys(annotation.method(), annotation.targetClass()));
	}

	/**
	 * Returns whether calls may be claimed when their result is subscribed to. Those of
	 * other doors come with something that no subscription has.
	 */
	boolean areSubscribed(IdempotentAnnotation annotation) {
		return !hasRequests(annotation) && !hasKeys(annotation)
				&& this.doors.stream().anyMatch(OperationDoor::subscribes);
	}

	/**
	 * Returns the transactions of subscriptions that the record of a method joins,
	 * {@code null} if those are of threads.
	 */
	@Nullable WorkTransactions transactions(IdempotentAnnotation annotation, ResultForm form, IdempotencyStore store) {
		return this.doors.stream()
			.map((door) -> Optional.ofNullable(door.transactions(annotation.guarded(), form, store)))
			.flatMap(Optional::stream)
			.findFirst()
			.orElse(null);
	}

	/** Returns whether a door wants duplicates to wait, unless the annotation says. */
	boolean waits(IdempotentAnnotation annotation) {
		return this.doors.stream().anyMatch((door) -> door.waits(annotation.method(), annotation.targetClass()));
	}

	/**
	 * Returns whether a call of one bean is never taken for one of another bean of its
	 * class.
	 */
	boolean tellsBeansApart(IdempotentOperation operation) {
		Method method = operation.guarded().method();
		Class<?> targetClass = operation.guarded().targetClass();
		return isCompared(operation)
				|| this.doors.stream().anyMatch((door) -> door.tellsBeansApart(method, targetClass));
	}

	/** Returns whether calls are compared by their request, and so by its path. */
	boolean isCompared(IdempotentOperation operation) {
		return operation.fingerprint() instanceof FingerprintSource.Default
				&& operation.options().mode() == IdempotencyMode.REPLAY
				&& isCovered(operation.guarded().method(), operation.guarded().targetClass());
	}

	/** Returns how arguments of a type count where they are compared. */
	ArgumentRole roleOf(Class<?> type) {
		return this.doors.stream()
			.map((door) -> door.roleOf(type))
			.filter((role) -> role != ArgumentRole.VALUE)
			.findFirst()
			.orElse(ArgumentRole.VALUE);
	}

	/** Lets each door refuse an operation that it could not guard. */
	void check(IdempotentOperation operation) {
		this.doors.forEach((door) -> door.check(operation));
	}

	/**
	 * Returns whether an annotation of the class leaves the method out. If a class has
	 * handlers, its annotation guards only the handlers, and not those that their door
	 * exempts.
	 */
	boolean isLeftOut(IdempotentAnnotation annotation) {
		if (annotation.guarded().declaredOnMethod()) {
			return false;
		}
		Class<?> targetClass = annotation.targetClass();
		if (hasRequests(annotation)) {
			return this.doors.stream().anyMatch((door) -> door.isExemptFromClass(annotation.method(), targetClass));
		}
		for (Method other : ReflectionUtils.getUniqueDeclaredMethods(targetClass)) {
			if (hasRequests(other, targetClass)) {
				return true;
			}
		}
		return false;
	}

}
