package io.idempotency.it.servers;

import java.nio.file.Path;

/**
 * The versions of PostgreSQL that the tests run on.
 */
public enum PostgreSqlBinary {

	/** The oldest that the tests run on. */
	POSTGRESQL_16("16.15"),

	/** The newest. */
	POSTGRESQL_18("18.6");

	private final String version;

	private final ServerArchive archive;

	PostgreSqlBinary(String version) {
		this.version = version;
		this.archive = new ServerArchive("postgresql-" + version);
	}

	public String version() {
		return this.version;
	}

	/**
	 * Unpacks the server once.
	 * @param program its file name
	 * @return the executable
	 */
	synchronized Path executable(String program) {
		String machine = System.getProperty("os.arch").contains("aarch64") ? "arm_64" : "x86_64";
		return this.archive.unpackTar("postgres-linux-" + machine + ".txz").resolve("bin").resolve(program);
	}

	Path newDirectory(int port) {
		return this.archive.newDirectory(port);
	}

}
