@org.jspecify.annotations.NullMarked
package org.springframework.data.rest.webmvc;
