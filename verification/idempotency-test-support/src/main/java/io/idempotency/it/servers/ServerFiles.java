package io.idempotency.it.servers;

import java.nio.file.Files;
import java.nio.file.Path;

/** Where servers are unpacked and write: in this module, whichever one runs tests. */
final class ServerFiles {

	private static final String MODULE = "verification/idempotency-test-support";

	/** The directory that {@code mvn clean} deletes. */
	static final Path TARGET = module().resolve("target");

	private ServerFiles() {
	}

	private static Path module() {
		Path here = Path.of("").toAbsolutePath();
		for (Path directory = here; directory != null; directory = directory.getParent()) {
			Path module = directory.resolve(MODULE);
			if (Files.isDirectory(module)) {
				return module;
			}
		}
		throw new IllegalStateException("No " + MODULE + " beside or above " + here);
	}

}
