package io.idempotency.graphql;

import java.util.Objects;
import java.util.concurrent.Executor;

import graphql.execution.instrumentation.InstrumentationState;
import graphql.execution.instrumentation.SimplePerformantInstrumentation;
import graphql.execution.instrumentation.parameters.InstrumentationFieldFetchParameters;
import graphql.schema.DataFetcher;
import graphql.schema.DataFetchingEnvironment;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.graphql.data.method.annotation.support.AnnotatedControllerConfigurer;
import org.springframework.scheduling.SchedulingTaskExecutor;

/**
 * Exposes the field that the current thread fetches. Spring passes it to the method of a
 * controller only if the method declares such a parameter. Thread-safe.
 */
final class CurrentField extends SimplePerformantInstrumentation {

	private static final ThreadLocal<@Nullable DataFetchingEnvironment> current = new ThreadLocal<>();

	static @Nullable DataFetchingEnvironment get() {
		return current.get();
	}

	static DataFetchingEnvironment require() {
		return Objects.requireNonNull(current.get(), "No GraphQL field is being fetched");
	}

	/** Runs an action while a field is fetched, or outside of a fetch. */
	static <X extends Throwable> @Nullable Object call(@Nullable DataFetchingEnvironment field, Action<X> action)
			throws X {
		DataFetchingEnvironment before = current.get();
		current.set(field);
		try {
			return action.run();
		}
		finally {
			if (before != null) {
				current.set(before);
			}
			else {
				current.remove();
			}
		}
	}

	@Override
	public DataFetcher<?> instrumentDataFetcher(DataFetcher<?> fetcher, InstrumentationFieldFetchParameters parameters,
			@Nullable InstrumentationState state) {
		return parameters.isTrivialDataFetcher() ? fetcher
				: (environment) -> call(environment, () -> fetcher.get(environment));
	}

	/**
	 * Propagates the field to the threads on which Spring calls blocking methods. These
	 * are virtual threads if the application enables them. Thread-safe.
	 */
	static final class Threads implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String name) {
			if (bean instanceof AnnotatedControllerConfigurer controllers) {
				Executor executor = controllers.getExecutor();
				// Spring recognizes a pool of threads by its type, and calls no methods
				// there.
				if (executor != null
						&& !(executor instanceof SchedulingTaskExecutor pool && pool.prefersShortLivedTasks())) {
					controllers.setExecutor((task) -> execute(executor, task));
				}
			}
			return bean;
		}

		private static void execute(Executor executor, Runnable task) {
			DataFetchingEnvironment field = get();
			executor.execute(() -> call(field, () -> {
				task.run();
				return null;
			}));
		}

	}

	/** An action that runs while a field is fetched. */
	interface Action<X extends Throwable> {

		@Nullable Object run() throws X;

	}

}
