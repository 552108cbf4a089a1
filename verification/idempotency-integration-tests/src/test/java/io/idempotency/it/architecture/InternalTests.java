package io.idempotency.it.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The mark of internal types is an annotation for tools and a tag for the Javadoc. */
class InternalTests {

	@Test
	void everyInternalTypeAndNoOtherIsLeftOutOfTheJavadoc() {
		List<Path> sources = Sources.of("idempotency-core", "idempotency-spring", "stores", "web", "integrations",
				"idempotency-spring-boot-starter", "idempotency-spring-boot-starter-webflux");
		assertThat(sources.stream().filter(InternalTests::isInternal)).hasSizeGreaterThan(40);
		assertThat(sources).allSatisfy((file) -> assertThat(isHidden(file)).isEqualTo(isInternal(file)));
	}

	private static boolean isInternal(Path source) {
		return lines(source).contains("@Internal");
	}

	private static boolean isHidden(Path source) {
		return lines(source).contains(" * @hidden");
	}

	private static List<String> lines(Path source) {
		try {
			return Files.readAllLines(source);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
