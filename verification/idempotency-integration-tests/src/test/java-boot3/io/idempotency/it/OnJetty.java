package io.idempotency.it;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.web.embedded.jetty.JettyServletWebServerFactory;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/**
 * The server of the test is Jetty, whose classes move with the Boot line, and not Tomcat.
 */
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Import(OnJetty.Server.class)
public @interface OnJetty {

	/** Makes the server. */
	@TestConfiguration(proxyBeanMethods = false)
	class Server {

		@Bean
		JettyServletWebServerFactory jetty() {
			return new JettyServletWebServerFactory(0);
		}

	}

}
