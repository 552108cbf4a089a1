package io.idempotency.it.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;

/**
 * The versions of Redis that the tests run on, the oldest supported one first.
 */
public enum RedisBinary {

	/**
	 * The jar's file name says 6.2.6, the server says 6.2.11. Needs glibc and OpenSSL 3.
	 */
	REDIS_6_2("6.2.11", "redis-server-6.2.6-v5"),

	/** Statically linked. */
	REDIS_7_0("7.0.15", "redis-server-7.0.15"),

	/** Statically linked. */
	REDIS_7_4("7.4.1", "redis-server-7.4.1");

	private final String version;

	private final String resource;

	RedisBinary(String version, String resource) {
		this.version = version;
		this.resource = "/" + resource + "-linux-" + architecture();
	}

	private static String architecture() {
		return System.getProperty("os.arch").toLowerCase(Locale.ROOT).contains("aarch64") ? "arm64" : "amd64";
	}

	public String version() {
		return this.version;
	}

	/**
	 * Unpacks the server once.
	 * @return the executable
	 */
	synchronized Path executable() {
		Path file = ServerArchive.TARGET.resolve("servers").resolve("redis-server-" + this.version);
		if (Files.isExecutable(file)) {
			return file;
		}
		try (InputStream binary = RedisBinary.class.getResourceAsStream(this.resource)) {
			if (binary == null) {
				throw new IllegalStateException("No Redis " + this.version + " for this machine: " + this.resource);
			}
			Files.createDirectories(file.getParent());
			Path unfinished = Files.createTempFile(file.getParent(), "redis", ".part");
			Files.copy(binary, unfinished, StandardCopyOption.REPLACE_EXISTING);
			if (!unfinished.toFile().setExecutable(true)) {
				throw new IllegalStateException("Cannot make " + unfinished + " executable");
			}
			Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
			return file;
		}
		catch (IOException ex) {
			throw new UncheckedIOException("Cannot unpack Redis " + this.version, ex);
		}
	}

}
