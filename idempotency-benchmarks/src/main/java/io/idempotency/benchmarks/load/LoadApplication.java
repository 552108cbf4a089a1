package io.idempotency.benchmarks.load;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The application under load. Its first line of output is its port. */
@SpringBootApplication(proxyBeanMethods = false)
class LoadApplication {

	public static void main(String[] args) {
		System.setProperty("server.port", "0");
		System.setProperty("server.tomcat.max-keep-alive-requests", "-1");
		SpringApplication application = new SpringApplication(LoadApplication.class);
		int port = Integer.parseInt(application.run(args).getEnvironment().getRequiredProperty("local.server.port"));
		System.out.println("port " + port);
	}

}
