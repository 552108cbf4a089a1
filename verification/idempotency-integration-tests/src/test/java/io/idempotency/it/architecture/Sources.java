package io.idempotency.it.architecture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The source files of published modules. */
final class Sources {

	private Sources() {
	}

	/** Returns the main sources of some modules, or of groups of them. */
	static List<Path> of(String... modules) {
		return Stream.of(modules)
			.flatMap((module) -> walk(Path.of("..", "..", module)))
			.filter((file) -> file.toString().endsWith(".java"))
			.filter((file) -> file.toString().contains("/src/main/java/"))
			.toList();
	}

	private static Stream<Path> walk(Path directory) {
		try (Stream<Path> files = Files.walk(directory)) {
			return files.toList().stream();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
