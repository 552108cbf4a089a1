package io.idempotency.observation;

import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.idempotency.IdempotencyMode;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The key values of a call, which its context keeps in a way of its own. */
class IdempotencyObservationContextTests {

	private static final KeyValues RUNNING = KeyValues.of("operation", "pay", "outcome", "unknown");

	private static IdempotencyObservationContext context() {
		return new IdempotencyObservationContext("pay", IdempotencyMode.REPLAY, "memory");
	}

	@Test
	void keyValuesAreThoseOfAnyContextOfMicrometer() {
		for (int seed = 0; seed < 500; seed++) {
			Random random = new Random(seed);
			List<Consumer<Observation.Context>> changes = Stream.generate(() -> change(random)).limit(6).toList();
			Observation.Context usual = new Observation.Context();
			Observation.Context own = context();
			for (Consumer<Observation.Context> change : changes) {
				change.accept(usual);
				change.accept(own);
				assertThat(own.getLowCardinalityKeyValues()).as("seed %s", seed)
					.containsExactlyElementsOf(usual.getLowCardinalityKeyValues());
				assertThat(own.getAllKeyValues()).containsExactlyElementsOf(usual.getAllKeyValues());
				assertThat(names()).allSatisfy((name) -> assertThat(own.getLowCardinalityKeyValue(name))
					.isEqualTo(usual.getLowCardinalityKeyValue(name)));
			}
			assertThat(own).hasToString(usual.toString());
		}
	}

	private static Consumer<Observation.Context> change(Random random) {
		List<KeyValue> some = random.ints(random.nextInt(5), 0, 5)
			.mapToObj((name) -> KeyValue.of("n" + name, "v" + random.nextInt(3)))
			.toList();
		KeyValue one = KeyValue.of("n" + random.nextInt(5), "one");
		return switch (random.nextInt(5)) {
			case 0 -> (context) -> context.addLowCardinalityKeyValue(one);
			case 1 -> (context) -> context.removeLowCardinalityKeyValue(one.getKey());
			case 2 -> (context) -> context.removeLowCardinalityKeyValues(one.getKey(), "n1");
			case 3 -> (context) -> context.addHighCardinalityKeyValue(KeyValue.of("high", one.getValue()));
			default -> (context) -> context.addLowCardinalityKeyValues(KeyValues.of(some));
		};
	}

	private static List<String> names() {
		return IntStream.range(0, 5).mapToObj((name) -> "n" + name).toList();
	}

	@Test
	void keyValuesOfTheConventionAreNotMadeAgain() {
		Observation.Context call = context();
		call.addLowCardinalityKeyValues(RUNNING);
		assertThat(call.getLowCardinalityKeyValues()).isSameAs(RUNNING);
		KeyValues ended = KeyValues.of("operation", "pay", "outcome", "executed");
		call.addLowCardinalityKeyValues(ended);
		assertThat(call.getLowCardinalityKeyValues()).isSameAs(ended);
	}

}
