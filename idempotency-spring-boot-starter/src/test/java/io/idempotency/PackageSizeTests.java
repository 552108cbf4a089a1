package io.idempotency;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A package is a room: who enters it has to see what is in it. */
class PackageSizeTests {

	private static final int MOST_FILES = 25;

	/**
	 * The packages that are still too large, with the number of their files. A number may
	 * only get smaller, and no package may be added.
	 */
	private static final Map<String, Integer> TO_BE_SPLIT = Map.of("io.idempotency", 37, "io.idempotency.test", 30);

	@Test
	void noPackageHasTooManyFiles() {
		Map<String, Long> sizes = Sources
			.of("idempotency-core", "idempotency-reactor", "idempotency-spring", "stores", "doors",
					"idempotency-spring-boot-starter", "idempotency-test")
			.stream()
			.collect(Collectors.groupingBy(PackageSizeTests::packageOf, TreeMap::new, Collectors.counting()));
		assertThat(sizes).hasSizeGreaterThan(20)
			.allSatisfy((name, files) -> assertThat(files).as("files of %s", name)
				.isLessThanOrEqualTo(TO_BE_SPLIT.getOrDefault(name, MOST_FILES)));
		sizes.values().removeIf((files) -> files <= MOST_FILES);
		assertThat(TO_BE_SPLIT.keySet()).as("packages that need no exception any more").isSubsetOf(sizes.keySet());
	}

	private static String packageOf(Path source) {
		String directory = source.getParent().toString();
		return directory.substring(directory.indexOf("/java/") + "/java/".length()).replace('/', '.');
	}

}
