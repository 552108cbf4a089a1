package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.util.ReflectionUtils;

/** Finds the methods that look up results in the business data. */
final class RecoverMethodFinder {

	private RecoverMethodFinder() {
	}

	/**
	 * Finds the method that the annotation refers to.
	 * @return the method, accessible; {@code null} if the annotation refers to none
	 * @throws io.idempotency.IdempotencyConfigurationException if the method does not
	 * exist, or its result cannot be a result of the guarded method
	 */
	static @Nullable Method find(IdempotentAnnotation annotation, ResultShape result) {
		String name = annotation.attributes().recover();
		if (name.isEmpty()) {
			return null;
		}
		Method guarded = annotation.method();
		Method recover = ReflectionUtils.findMethod(annotation.targetClass(), name, guarded.getParameterTypes());
		if (recover == null || recover.equals(guarded) || Modifier.isAbstract(recover.getModifiers())) {
			String other = Arrays.stream(ReflectionUtils.getAllDeclaredMethods(annotation.targetClass()))
				.filter((method) -> method.getName().equals(name) && !method.equals(guarded))
				.map((method) -> " with these parameters, but there is "
						+ GuardedMethod.describe(method, annotation.targetClass()))
				.findFirst()
				.orElse("");
			throw annotation.problem("its recover method '" + name + "' does not exist" + other, "Add a method '" + name
					+ "' with the same parameters to class " + annotation.targetClass().getName());
		}
		ResultShape wanted = shape(guarded, annotation, result, result.form().isSubscribed());
		ResultShape found = shape(recover, annotation, null, wanted.form().isSubscribed());
		boolean nothing = wanted.isVoid() || isLate(wanted) && ResultShape.of(annotation, true).isVoid();
		if (givesNothing(recover, found, annotation) || !comesAs(wanted, found) || !fits(wanted, found, nothing)) {
			throw annotation.problem(
					"its recover method '" + name + "' returns " + declared(recover, found)
							+ ", which does not match the result type of the method",
					"Change its return type to " + advice(guarded, wanted, nothing));
		}
		recover.setAccessible(true);
		return recover;
	}

	/**
	 * Returns the declared result of a method. If the adapter does not support
	 * subscriptions, Spring calls the suspend function.
	 */
	private static ResultShape shape(Method method, IdempotentAnnotation annotation, @Nullable ResultShape known,
			boolean subscribed) {
		if (DeferredResultTypes.isSuspend(method)) {
			return ResultShape.suspended(method, annotation.targetClass());
		}
		return (known != null) ? known : ResultShape.of(method, annotation.targetClass(), subscribed);
	}

	private static boolean givesNothing(Method recover, ResultShape found, IdempotentAnnotation annotation) {
		return found.isVoid() || found.type() == Void.class
				|| ResultShape.of(recover, annotation.targetClass(), true).isVoid();
	}

	/** Returns whether the forms match: values are neither merged nor awaited. */
	private static boolean comesAs(ResultShape wanted, ResultShape found) {
		if (found.form().isSubscribed() && wanted.form().isSubscribed()) {
			return found.form() == wanted.form();
		}
		return (found.form() == ResultForm.VALUE || wanted.form() != ResultForm.VALUE)
				&& (isLate(wanted) || !isLate(found));
	}

	/**
	 * Returns whether the recovered value can be the result of the guarded method. If the
	 * guarded method has no return value, a value of any type means "done".
	 */
	private static boolean fits(ResultShape wanted, ResultShape found, boolean nothing) {
		if (nothing) {
			return !isLate(wanted) || raw(wanted).isAssignableFrom(raw(found));
		}
		return ResolvableType.forType(wanted.type()).isAssignableFrom(ResolvableType.forType(found.type()));
	}

	private static boolean isLate(ResultShape result) {
		return DeferredResultTypes.include(raw(result));
	}

	private static Class<?> raw(ResultShape result) {
		return ResolvableType.forType(result.type()).toClass();
	}

	/** Returns the declared return type, which a suspend function hides. */
	private static String declared(Method method, ResultShape shape) {
		return (DeferredResultTypes.isSuspend(method) ? shape.type() : method.getGenericReturnType()).getTypeName();
	}

	private static String advice(Method guarded, ResultShape wanted, boolean nothing) {
		if (!nothing) {
			return declared(guarded, wanted) + ", with null or empty for no result";
		}
		String done = isLate(wanted) ? raw(wanted).getName() + "<Boolean>" : Boolean.class.getName();
		return done + ", for example: a value means that the work was done, and no value that it was not";
	}

}
