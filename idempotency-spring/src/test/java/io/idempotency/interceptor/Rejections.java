package io.idempotency.interceptor;

import io.idempotency.IdempotencyConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/** What start-up says about wrong annotations. */
final class Rejections {

	private Rejections() {
	}

	/** Starts with the given beans, the first of which must be rejected. */
	static IdempotencyConfigurationException of(Class<?>... beans) {
		Throwable failure = catchThrowable(() -> MethodAdapterSetup.start(beans).close());
		while (failure != null && !(failure instanceof IdempotencyConfigurationException)) {
			failure = failure.getCause();
		}
		assertThat(failure).as("start-up of " + beans[0].getSimpleName())
			.isInstanceOf(IdempotencyConfigurationException.class);
		return (IdempotencyConfigurationException) failure;
	}

	/** The message names the method, or at least its class. */
	static void assertRejected(Class<?> bean, String problem, String action) {
		IdempotencyConfigurationException failure = of(bean);
		assertThat(failure).hasMessageStartingWith("@Idempotent on '" + bean.getName() + "#run(")
			.hasMessageContaining(problem);
		assertThat(failure.action()).contains(action);
	}

}
