package io.idempotency.autoconfigure;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyListener;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class CompositeIdempotencyListenerTests {

	@ParameterizedTest
	@ValueSource(classes = { IllegalStateException.class, IOException.class, NoClassDefFoundError.class })
	void tellsAllInOrderAlsoAfterOneFailed(Class<? extends Throwable> type) throws Exception {
		Throwable failure = type.getConstructor().newInstance();
		List<String> told = new ArrayList<>();
		IdempotencyListener first = (event, operation) -> told.add("first " + event + " " + operation);
		IdempotencyListener broken = (event, operation) -> {
			throw CompositeIdempotencyListenerTests.<RuntimeException>sneaky(failure);
		};
		IdempotencyListener last = (event, operation) -> told.add("last " + event + " " + operation);
		IdempotencyAutoConfiguration.composite(List.of(first, broken, last)).onEvent(IdempotencyEvent.REPLAYED, "pay");
		assertThat(told).containsExactly("first REPLAYED pay", "last REPLAYED pay");
	}

	/** Listeners may be written in languages that declare no exceptions. */
	@SuppressWarnings("unchecked")
	private static <E extends Throwable> E sneaky(Throwable failure) throws E {
		throw (E) failure;
	}

}
