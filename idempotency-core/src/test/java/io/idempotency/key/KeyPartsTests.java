package io.idempotency.key;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import io.idempotency.key.Namespace.KeyParts;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The parts of a key are the same on each node. */
class KeyPartsTests {

	@Test
	void aSetHasNoOrder() {
		List<String> parts = KeyParts.of(new LinkedHashSet<>(List.of("b", "c", "a")));
		assertThat(parts).containsExactly("a", "b", "c");
		assertThat(KeyParts.of(new LinkedHashSet<>(List.of("c", "a", "b")))).isEqualTo(parts);
		assertThat(KeyParts.of(new TreeSet<>(Set.of(10, 9)))).as("by their texts").containsExactly("10", "9");
		assertThat(KeyParts.of(new TreeMap<>(java.util.Map.of("b", 1, "a", 2)).descendingMap().keySet()))
			.containsExactly("a", "b");
	}

	@Test
	void aListAndAnArrayKeepTheirs() {
		assertThat(KeyParts.of(List.of("b", "a"))).containsExactly("b", "a");
		assertThat(KeyParts.of(new int[] { 2, 1 })).containsExactly("2", "1");
	}

	@Test
	void anElementThatIsMissingMakesTheKeyMissing() {
		assertThat(KeyParts.of(new LinkedHashSet<>(List.of("a", "")))).isEmpty();
		assertThat(KeyParts.of(Set.of())).isEmpty();
	}

}
