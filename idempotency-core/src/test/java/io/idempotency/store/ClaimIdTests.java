package io.idempotency.store;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ClaimIdTests {

	private static final int THREADS = 4;

	private static final int EACH = 50_000;

	@Test
	void neverComesTwiceInOneJvm() throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		try {
			Callable<List<ClaimId>> some = () -> Stream.generate(ClaimId::random).limit(EACH).toList();
			Set<ClaimId> ids = new HashSet<>();
			for (Future<List<ClaimId>> made : threads
				.invokeAll(IntStream.range(0, THREADS).mapToObj((i) -> some).toList())) {
				ids.addAll(made.get());
			}
			assertThat(ids).hasSize(THREADS * EACH);
			// What one JVM makes differs in the upper half alone, whatever its clock
			// says.
			assertThat(ids.stream().map(ClaimId::high).collect(Collectors.toSet())).hasSize(THREADS * EACH);
		}
		finally {
			threads.shutdownNow();
		}
	}

	@Test
	void everyBitIsUsed() {
		long highOnes = 0;
		long highZeros = 0;
		long lowOnes = 0;
		long lowZeros = 0;
		for (int i = 0; i < 1000; i++) {
			ClaimId id = ClaimId.random();
			highOnes |= id.high();
			highZeros |= ~id.high();
			lowOnes |= id.low();
			lowZeros |= ~id.low();
		}
		assertThat(List.of(highOnes, highZeros, lowOnes, lowZeros)).containsOnly(-1L);
	}

	@Test
	void isReadFromItsText() {
		ClaimId id = ClaimId.random();
		assertThat(ClaimId.parse(id.toString())).isEqualTo(id);
		assertThat(id.toString()).hasSize(32);
		assertThatIllegalArgumentException().isThrownBy(() -> ClaimId.parse("12"));
	}

}
