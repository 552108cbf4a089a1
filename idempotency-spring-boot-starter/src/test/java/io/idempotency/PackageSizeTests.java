package io.idempotency;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** A package is a room: who enters it has to see what is in it. */
class PackageSizeTests {

	private static final int MOST_FILES = 25;

	private static final int MOST_LINES = 460;

	/** Where the page for successors says why some are longer. */
	private static final Pattern REASON = Pattern.compile("(?m)^- \\*\\*Long classes\\*\\*.*$");

	private static final Pattern TYPE = Pattern.compile("`(\\w+)`");

	/**
	 * The packages that are still too large, with the number of their files. A number may
	 * only get smaller, and no package may be added.
	 */
	private static final Map<String, Integer> TO_BE_SPLIT = Map.of("io.idempotency", 37, "io.idempotency.test", 30);

	@Test
	void noPackageHasTooManyFiles() {
		Map<String, Long> sizes = published().stream()
			.collect(Collectors.groupingBy(PackageSizeTests::packageOf, TreeMap::new, Collectors.counting()));
		assertThat(sizes).hasSizeGreaterThan(20)
			.allSatisfy((name, files) -> assertThat(files).as("files of %s", name)
				.isLessThanOrEqualTo(TO_BE_SPLIT.getOrDefault(name, MOST_FILES)));
		sizes.values().removeIf((files) -> files <= MOST_FILES);
		assertThat(TO_BE_SPLIT.keySet()).as("packages that need no exception any more").isSubsetOf(sizes.keySet());
	}

	@Test
	void noFileIsTooLongWithoutAReason() throws IOException {
		Set<String> tooLong = new TreeSet<>();
		for (Path source : published()) {
			if (Files.readAllLines(source).size() > MOST_LINES) {
				tooLong.add(source.getFileName().toString().replace(".java", ""));
			}
		}
		String reasons = REASON.matcher(Files.readString(Path.of("../docs/inside.md")))
			.results()
			.findFirst()
			.orElseThrow()
			.group();
		assertThat(TYPE.matcher(reasons).results().map((type) -> type.group(1)))
			.as("classes of more than %s lines that docs/inside.md gives a reason for", MOST_LINES)
			.containsExactlyInAnyOrderElementsOf(tooLong);
	}

	private static List<Path> published() {
		return Sources.of("idempotency-core", "idempotency-reactor", "idempotency-spring", "stores", "doors",
				"idempotency-spring-boot-starter", "idempotency-test");
	}

	private static String packageOf(Path source) {
		String directory = source.getParent().toString();
		return directory.substring(directory.indexOf("/java/") + "/java/".length()).replace('/', '.');
	}

}
