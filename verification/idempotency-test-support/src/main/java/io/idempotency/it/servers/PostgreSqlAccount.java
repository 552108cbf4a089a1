package io.idempotency.it.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Who PostgreSQL runs as: it refuses to be root.
 */
enum PostgreSqlAccount {

	/** The user of this JVM. */
	SELF,

	/** Nobody in a user namespace, who is root outside. */
	NAMESPACE("unshare", "-U"),

	/** Nobody, for hosts that allow no namespace. */
	NOBODY("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--");

	private static final int NOBODY_ID = 65534;

	private final List<String> prefix;

	PostgreSqlAccount(String... prefix) {
		this.prefix = List.of(prefix);
	}

	/** The first that works here. */
	static PostgreSqlAccount current() {
		if (!isRoot() && !isNameless()) {
			return SELF;
		}
		if (NAMESPACE.works()) {
			return NAMESPACE;
		}
		return isRoot() ? NOBODY : SELF;
	}

	/** A number that a container was started with: PostgreSQL wants a name. */
	private static boolean isNameless() {
		return "?".equals(System.getProperty("user.name"));
	}

	static boolean isRoot() {
		return "root".equals(System.getProperty("user.name"));
	}

	boolean works() {
		try {
			return new ProcessBuilder(command(List.of("true"))).start().waitFor() == 0;
		}
		catch (IOException missing) {
			return false;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	List<String> command(List<String> command) {
		List<String> all = new ArrayList<>(this.prefix);
		all.addAll(command);
		return all;
	}

	/**
	 * Makes a directory that PostgreSQL may own.
	 * @param parent where
	 * @return the directory
	 */
	Path newDataDirectory(Path parent) {
		try {
			Path data = Files.createDirectory(parent.resolve("data"));
			if (this == NOBODY) {
				Files.setAttribute(data, "unix:uid", NOBODY_ID);
				Files.setAttribute(data, "unix:gid", NOBODY_ID);
			}
			return data;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
