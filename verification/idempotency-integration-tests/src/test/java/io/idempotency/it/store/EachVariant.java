package io.idempotency.it.store;

import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Nightly;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.AfterClassTemplateInvocationCallback;
import org.junit.jupiter.api.extension.ClassTemplateInvocationContext;
import org.junit.jupiter.api.extension.ClassTemplateInvocationContextProvider;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestInstanceFactoryContext;
import org.junit.jupiter.api.extension.TestInstancePreConstructCallback;

/**
 * Runs a whole test class once for each variant of something: once for each database, or
 * for each kind of Redis. The constructor of the class takes what belongs to the variant;
 * all tests of one round share it, and it is closed after the last of them.
 * <p>
 * The tests of a variant whose backend is not here are shown as skipped, one by one. What
 * most do not have runs with {@code -Didempotency.tests.variants=all}, as each night.
 *
 * @param <T> what the constructor takes
 */
public abstract class EachVariant<T extends AutoCloseable> implements ClassTemplateInvocationContextProvider {

	private final Class<T> type;

	protected EachVariant(Class<T> type) {
		this.type = type;
	}

	/**
	 * The variants of a class.
	 * @param testClass the class
	 * @return at least one
	 */
	protected abstract Stream<Variant<T>> variants(Class<?> testClass);

	@Override
	public final boolean supportsClassTemplate(ExtensionContext context) {
		return true;
	}

	@Override
	public final Stream<ClassTemplateInvocationContext> provideClassTemplateInvocationContexts(
			ExtensionContext context) {
		List<Variant<T>> all = variants(context.getRequiredTestClass()).toList();
		boolean usualAlone = !Nightly.Condition.isWanted() && all.stream().anyMatch(Variant::usual);
		return all.stream()
			.filter((variant) -> variant.usual() || !usualAlone)
			.map((variant) -> new Round<>(this.type, variant));
	}

	/**
	 * A variant.
	 *
	 * @param name how reports call it
	 * @param usual whether most have it like that
	 * @param backend what it needs, {@code null} if that is in this JVM
	 * @param open opens it, once for all tests of a class
	 * @param <T> what the constructor takes
	 */
	public record Variant<T>(String name, boolean usual, @Nullable Backend backend, Supplier<T> open) {

	}

	/** All tests of one class with one variant. */
	private static final class Round<T extends AutoCloseable>
			implements ClassTemplateInvocationContext, ExecutionCondition, TestInstancePreConstructCallback,
			ParameterResolver, TestExecutionExceptionHandler, AfterClassTemplateInvocationCallback {

		private final Class<T> type;

		private final Variant<T> variant;

		private @Nullable T opened;

		Round(Class<T> type, Variant<T> variant) {
			this.type = type;
			this.variant = variant;
		}

		@Override
		public String getDisplayName(int invocationIndex) {
			return this.variant.name();
		}

		@Override
		public List<Extension> getAdditionalExtensions() {
			return List.of(this);
		}

		/** Asked for nested classes. */
		@Override
		public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
			Backend backend = this.variant.backend();
			return (backend != null) ? backend.evaluate() : ConditionEvaluationResult.enabled("needs nothing");
		}

		/** Comes before the condition where each test has an instance of its own. */
		@Override
		public void preConstructTestInstance(TestInstanceFactoryContext factory, ExtensionContext context) {
			ConditionEvaluationResult result = evaluateExecutionCondition(context);
			Assumptions.assumeFalse(result.isDisabled(), () -> result.getReason().orElse(""));
		}

		@Override
		public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
			return parameter.getParameter().getType() == this.type;
		}

		@Override
		public synchronized T resolveParameter(ParameterContext parameter, ExtensionContext context) {
			T value = this.opened;
			if (value == null) {
				value = this.variant.open().get();
				this.opened = value;
			}
			return value;
		}

		/** A report says in which round a test has failed by its number only. */
		@Override
		public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
			if (!(failure instanceof AssertionError)) {
				failure.addSuppressed(new IllegalStateException("with " + this.variant.name()));
				throw failure;
			}
			AssertionError named = new AssertionError("with " + this.variant.name() + ": " + failure.getMessage(),
					failure);
			named.setStackTrace(failure.getStackTrace());
			throw named;
		}

		@Override
		public synchronized void afterClassTemplateInvocation(ExtensionContext context) throws Exception {
			if (this.opened != null) {
				this.opened.close();
			}
		}

	}

}
