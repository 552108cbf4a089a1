package io.idempotency.autoconfigure.engine;

import java.util.ArrayList;
import java.util.List;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyListener;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class CompositeIdempotencyListenerTests {

	@Test
	void tellsAllInOrderAlsoAfterOneFailed() {
		List<String> told = new ArrayList<>();
		IdempotencyListener first = (event, operation) -> told.add("first " + event + " " + operation);
		IdempotencyListener broken = (event, operation) -> {
			throw new IllegalStateException("broken");
		};
		IdempotencyListener last = (event, operation) -> told.add("last " + event + " " + operation);
		new CompositeIdempotencyListener(List.of(first, broken, last)).onEvent(IdempotencyEvent.REPLAYED, "pay");
		assertThat(told).containsExactly("first REPLAYED pay", "last REPLAYED pay");
	}

}
