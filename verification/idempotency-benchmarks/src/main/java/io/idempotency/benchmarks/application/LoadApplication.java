package io.idempotency.benchmarks.application;

import java.util.logging.LogManager;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.logging.LoggingSystem;
import org.springframework.core.env.Environment;

/**
 * The application under load. Its first line of output is its port. It is one of Spring
 * MVC or of WebFlux, by its class path. A peer is there by its profile and its jars.
 */
@SpringBootApplication(proxyBeanMethods = false, excludeName = LoadApplication.R2DBC)
public class LoadApplication {

	/** The profile of an application that keeps metrics. */
	public static final String OBSERVED = "observed";

	/** The profile of an application that has lock4j beside the guard. */
	public static final String LOCK4J = "lock4j";

	/** The same with the starter of pig4cloud. */
	public static final String PIG4CLOUD = "pig4cloud";

	/** The same with a filter. */
	public static final String FILTER = "filter";

	/** It asks for a URL wherever there is a driver. */
	static final String R2DBC = "org.springframework.boot.autoconfigure.r2dbc.R2dbcAutoConfiguration";

	/**
	 * Starts it.
	 * @param args its properties
	 */
	public static void main(String[] args) {
		// SLF4J is silent, but Tomcat has the logging of the JDK.
		System.setProperty(LoggingSystem.SYSTEM_PROPERTY, LoggingSystem.NONE);
		LogManager.getLogManager().reset();
		System.setProperty("server.port", "0");
		System.setProperty("server.tomcat.max-keep-alive-requests", "-1");
		// Connections are open while the application beside this one starts.
		System.setProperty("server.tomcat.connection-timeout", "10m");
		try {
			Environment environment = SpringApplication.run(LoadApplication.class, args).getEnvironment();
			System.out.println("port " + environment.getRequiredProperty("local.server.port"));
		}
		catch (RuntimeException ex) {
			// Spring Boot has only logged it.
			ex.printStackTrace();
			throw ex;
		}
	}

}
